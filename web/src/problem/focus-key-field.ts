/** The field that a key is put into, wherever it is on the page. */
export const keyFieldId = "api-key";

export function focusKeyField(): void {
  document.getElementById(keyFieldId)?.focus();
}

/** Where there was a key, the field comes with the next rendering. */
export function focusKeyFieldSoon(): void {
  requestAnimationFrame(focusKeyField);
}
