import type { TargetedEvent } from "preact";

type FieldEvent = TargetedEvent<HTMLInputElement>;

/** The first click into a field selects its text, so that a pasted text replaces the former text. */
export const selectAtClick = {
  onPointerDown({ currentTarget: field }: FieldEvent): void {
    if (field !== document.activeElement) {
      field.addEventListener("click", () => field.selectionStart === field.selectionEnd && field.select(), {
        once: true,
      });
    }
  },
};
