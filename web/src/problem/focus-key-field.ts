/** The field for a key, in the panel of the API. */
export const keyFieldId = "api-key";

/** Opens the panel around the key field and focuses the field, after the next rendering: there is no field while there is a key. */
export function focusKeyField(): void {
  requestAnimationFrame(() => {
    const field = document.getElementById(keyFieldId);
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
  });
}
