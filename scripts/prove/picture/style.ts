/** Light and dark. */
export const style = `
:root { color-scheme: light dark; --ours: #0b7a75; --limit: #8a8f98; --peer: #c77d2e; --good: #1f7a3d; --bad: #b3261e;
  --line: #d9dce1; --soft: #5f6670; --dot: #16191d; --page: #fbfbfa; --text: #16191d; }
@media (prefers-color-scheme: dark) { :root { --ours: #3cc2b8; --limit: #7d858f; --peer: #e0a05a; --good: #6fce8e;
  --bad: #ff8a80; --line: #343a42; --soft: #a3abb5; --dot: #f3f4f6; --page: #14171a; --text: #eceef0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 5rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.9rem; } h2 { margin: 3.5rem 0 0.25rem; font-size: 1.45rem; text-transform: capitalize; }
h3 { margin: 2.2rem 0 0.5rem; font-size: 1.05rem; } header p { color: var(--soft); margin: 0.4rem 0; }
nav { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 1rem 0; }
nav a { padding: 0.25rem 0.8rem; border: 1px solid var(--line); border-radius: 1rem; color: inherit; text-decoration: none; }
nav a:hover, nav a:focus-visible { border-color: var(--ours); }
.legend i { display: inline-block; width: 0.8rem; height: 0.8rem; border-radius: 0.2rem; margin: 0 0.35rem 0 0.6rem; }
i.ours { background: var(--ours); margin-left: 0; } i.limit { background: var(--limit); } i.peer { background: var(--peer); }
figure { margin: 1rem 0; } figcaption { color: var(--soft); font-size: 0.85rem; margin-bottom: 0.3rem; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--text); font: 13px system-ui, sans-serif; } svg .value { font-variant-numeric: tabular-nums; }
svg .tick { fill: var(--soft); font-size: 11px; } svg .grid { stroke: var(--line); }
svg .ours { fill: var(--ours); } svg .limit { fill: var(--limit); } svg .peer { fill: var(--peer); }
svg .span { stroke-width: 3; opacity: 0.45; } svg .span.ours { stroke: var(--ours); } svg .span.limit { stroke: var(--limit); }
svg .span.peer { stroke: var(--peer); } svg .run { fill: var(--dot); opacity: 0.55; }
svg .curve { fill: none; stroke-width: 2; } svg .offered { stroke: var(--limit); } svg .served { stroke: var(--ours); }
svg .refused { stroke: var(--peer); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-weight: 500; } tbody th { text-align: left; font-weight: 500; }
tr.ours th { color: var(--ours); } th small { color: var(--soft); font-weight: 400; margin-left: 0.5rem; }
.key, tbody th { position: sticky; background: var(--page); } tbody th { left: 0; white-space: normal; width: 11rem; min-width: 11rem; }
.key { left: 11rem; font-weight: 600; } thead th:first-child { position: sticky; left: 0; background: var(--page); }
td.missing { text-align: left; color: var(--soft); font-style: italic; white-space: normal; }
.verdicts { list-style: none; padding: 0; margin: 1rem 0; } .verdicts li { padding: 0.2rem 0 0.2rem 1.6rem; position: relative; }
.verdicts li::before { position: absolute; left: 0; font-weight: 700; } .verdicts small { color: var(--soft); }
.holds::before { content: '✓'; color: var(--good); } .misses::before { content: '✗'; color: var(--bad); }
.not-judged::before { content: '–'; color: var(--soft); } .not-judged, .not-judged b { color: var(--soft); }
.holds b { color: var(--good); } .misses b { color: var(--bad); } .note { color: var(--soft); font-size: 0.9rem; }
`;
