export const keyFieldId = "api-key";

/** Focuses the key field after the next rendering. Before this rendering, the field is missing if a key is set. */
export function focusKeyField(): void {
  requestAnimationFrame(() => {
    const field = document.getElementById(keyFieldId);
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
  });
}
