/**
 * The form in which texts are compared: Unicode's NFC. The same Korean text comes composed from one system and decomposed
 * (NFD) from another, such as macOS. What is stored and shown keeps the form in which it came.
 */
export const comparable = (text: string): string => text.normalize('NFC');

/** Whether two texts are the same to a reader, whatever their forms. */
export const isSameText = (a: string, b: string): boolean => a === b || comparable(a) === comparable(b);

/** The forms in which the same text may be stored: composed, decomposed, and as it is given. The first is `comparable`. */
export const formsOf = (text: string): [string, ...string[]] => {
  const composed = comparable(text);
  return [composed, ...new Set([text.normalize('NFD'), text].filter((form) => form !== composed))];
};
