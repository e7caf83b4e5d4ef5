import { effect, signal } from "@preact/signals";
import { texts } from "../texts.ts";

const place = "kibitz-colours";
const choices = ["system", "light", "dark"] as const;
type Colours = (typeof choices)[number];

/** Light, dark or as the system has it; kept by this browser. */
const colours = signal<Colours>(kept());

effect(() => {
  const { dataset } = document.documentElement;
  if (colours.value === "system") {
    delete dataset.colours;
  } else {
    dataset.colours = colours.value;
  }
});

function kept(): Colours {
  try {
    return choices.find((choice) => choice === localStorage.getItem(place)) ?? "system";
  } catch {
    // If the browser stores nothing, every visit begins with the system's colours.
    return "system";
  }
}

function choose(next: Colours): void {
  colours.value = next;
  try {
    localStorage.setItem(place, next);
  } catch {
    // It holds for this visit.
  }
}

/** Goes from one choice of colours to the next. */
export function ColoursSwitch() {
  const at = choices.indexOf(colours.value);
  const next = choices[(at + 1) % choices.length] ?? "system";
  const name = texts.colours.now(texts.colours[colours.value]);
  return (
    <button type="button" class="quiet" aria-label={name} title={name} onClick={() => choose(next)}>
      <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" stroke-width="1.5" />
        {colours.value === "dark" && <circle cx="8" cy="8" r="6" fill="currentColor" />}
        {colours.value === "system" && <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />}
      </svg>
    </button>
  );
}
