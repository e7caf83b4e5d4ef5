/** The field that a key is put into, wherever it is on the page. */
export const keyFieldId = "api-key";

export function focusKeyField(): void {
  document.getElementById(keyFieldId)?.focus();
}

/** Focuses the key field after the next rendering, because the field is not on the page while there is a key. */
export function focusKeyFieldSoon(): void {
  requestAnimationFrame(focusKeyField);
}
