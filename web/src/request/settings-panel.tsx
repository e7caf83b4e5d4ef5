import type { ComponentChildren } from "preact";
import { usePage } from "../page.ts";
import { Icon } from "../parts/icon.tsx";

const id = "settings";

export function SettingsButton() {
  const { settings } = usePage().display;
  return (
    <button
      type="button"
      class="quiet"
      aria-label="Settings"
      title="Settings of the engine"
      aria-expanded={settings.value}
      aria-controls={id}
      onClick={() => {
        settings.value = !settings.value;
      }}
    >
      <Icon name="settings" />
    </button>
  );
}

export function SettingsPanel({ children }: { readonly children: ComponentChildren }) {
  return (
    <div id={id} class="settings panel" hidden={!usePage().display.settings.value}>
      {children}
    </div>
  );
}
