import { useLayoutEffect, useState } from "preact/hooks";
import { store, stored } from "./stored.ts";

const place = "kibitz-colours";
const choices = ["system", "light", "dark"] as const;
type Colours = (typeof choices)[number];

/** Switches between the system's colours, light and dark. The browser stores the choice. */
export function ColoursSwitch() {
  const [colours, setColours] = useState<Colours>(
    () => choices.find((choice) => choice === stored("localStorage", place)) ?? "system",
  );
  useLayoutEffect(() => {
    const { dataset } = document.documentElement;
    if (colours === "system") {
      delete dataset.colours;
    } else {
      dataset.colours = colours;
    }
  }, [colours]);
  const next = choices[(choices.indexOf(colours) + 1) % choices.length] ?? "system";
  const name = `Colours: ${colours === "system" ? "as the system" : colours}`;
  const choose = () => {
    setColours(next);
    store("localStorage", place, next);
  };
  return (
    <button type="button" class="quiet" aria-label={name} title={name} onClick={choose}>
      <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
        <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" stroke-width="1.5" />
        {colours === "dark" && <circle cx="8" cy="8" r="6" fill="currentColor" />}
        {colours === "system" && <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />}
      </svg>
    </button>
  );
}
