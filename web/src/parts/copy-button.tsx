import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import { Icon, type IconName } from "./icon.tsx";

interface CopyButtonProps {
  readonly label: string;
  readonly face?: string;
  readonly icon?: IconName;
  text(): string;
}

const shownMs = 2000;

export function CopyButton({ label, face = "Copy", icon, text }: CopyButtonProps) {
  const [result, setResult] = useState<string>();
  const shown = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(shown.current), []);
  const copy = async () => {
    const isDone = await write(text());
    const said = isDone ? "Copied" : "Not copied: the browser does not allow it";
    announce(said);
    setResult(said);
    clearTimeout(shown.current);
    shown.current = setTimeout(() => setResult(undefined), shownMs);
  };
  return (
    <button
      type="button"
      class={icon ? "copy quiet" : "copy"}
      aria-label={result ? `${label}: ${result}` : label}
      title={label}
      onClick={() => void copy()}
    >
      {/* Without the icon, the result is not wider than the label, so that nothing beside the button moves. */}
      {result ?? (
        <>
          {icon && <Icon name={icon} />}
          {face}
        </>
      )}
    </button>
  );
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // On a page without TLS, browsers can copy only a selection.
    return copySelected(text);
  }
}

function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.className = "heard-only";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (focused instanceof HTMLElement) {
    focused.focus();
  }
  return isCopied;
}
