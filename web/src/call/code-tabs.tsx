import { signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { CopyButton } from "../parts/copy-button.tsx";
import { texts } from "../texts.ts";
import type { ShownCall } from "./shown-call.ts";
import { type Language, snippets } from "./snippets.ts";

const languages = Object.keys(snippets) as readonly Language[];

/** The language that was chosen last. */
const language = signal<Language>("curl");

/** A call in each language; the arrow keys go from one to the next. */
export function CodeTabs({ call }: { readonly call: ShownCall }) {
  const list = useRef<HTMLDivElement>(null);
  const go = (to: number) => {
    const next = languages[(to + languages.length) % languages.length];
    if (next !== undefined) {
      language.value = next;
      list.current?.querySelector<HTMLElement>(`#${tabId(next)}`)?.focus();
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = languages.indexOf(language.value);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: languages.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      go(to);
    }
  };
  const { name, write, needs } = snippets[language.value];
  const code = write(call);
  return (
    <div class="code-tabs">
      <div ref={list} class="tabs" role="tablist" aria-label={texts.call.languages} onKeyDown={onKeyDown}>
        {languages.map((one) => (
          <button
            key={one}
            id={tabId(one)}
            type="button"
            role="tab"
            aria-selected={one === language.value}
            aria-controls={panelId}
            tabIndex={one === language.value ? 0 : -1}
            onClick={() => {
              language.value = one;
            }}
          >
            {snippets[one].name}
          </button>
        ))}
      </div>
      <div id={panelId} class="code-panel" role="tabpanel" aria-labelledby={tabId(language.value)}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys. */}
        <section class="code-scroll" tabIndex={0} aria-label={texts.call.code(name)}>
          <pre>
            <code>{code}</code>
          </pre>
        </section>
        <CopyButton label={texts.call.copyCode(name)} text={() => code} />
      </div>
      <p class="code-needs quiet-text">
        {needs(call)} {call.withKey && texts.call.withKey}
      </p>
    </div>
  );
}

const panelId = "code-panel";
const tabId = (name: Language) => `code-tab-${name}`;
