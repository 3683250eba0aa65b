/** Loaded into a process whose memory is measured (`--expose-gc --import`): SIGUSR2 collects its garbage. */
process.on('SIGUSR2', () => {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  gc?.();
});
