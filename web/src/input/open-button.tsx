import { usePage } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { textFieldId } from "./input-panel.tsx";

export function OpenButton() {
  const { isOpen } = usePage().input;
  const label = "Open a game or a position";
  const open = () => {
    isOpen.value = true;
    requestAnimationFrame(() => document.getElementById(textFieldId)?.focus());
  };
  return (
    <button type="button" class="quiet" aria-label={label} title={label} onClick={open}>
      <Icon name="open" /> Open
    </button>
  );
}
