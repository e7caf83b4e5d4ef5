export const keyFieldId = "api-key";

/** Waits for the next rendering, because the field is missing while a key is set. */
export function focusKeyField(): void {
  requestAnimationFrame(() => {
    const field = document.getElementById(keyFieldId);
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
  });
}
