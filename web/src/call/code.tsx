import { useState } from "preact/hooks";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { shownKey } from "./read-key.ts";
import type { ShownCall } from "./shown-call.ts";
import { type Language, snippets } from "./snippets.ts";

const languages = Object.keys(snippets) as readonly Language[];

/** Hides the API key on the page. The copied code contains the key. */
export function Code({ call }: { readonly call: ShownCall }) {
  const [language, setLanguage] = useState<Language>("curl");
  const { name, write, needs } = snippets[language];
  const key = usePage().client.key.value;
  return (
    <div>
      <fieldset class="languages row">
        <legend class="heard-only">Languages</legend>
        {languages.map((one) => (
          <label key={one}>
            <input
              class="heard-only"
              type="radio"
              name="language"
              checked={one === language}
              onChange={() => setLanguage(one)}
            />
            {snippets[one].name}
          </label>
        ))}
      </fieldset>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keys must reach an area that scrolls. */}
      <section class="code-scroll" tabIndex={0} aria-label={`The call in ${name}`}>
        <pre>
          <code>{write(call, shownKey(key))}</code>
        </pre>
      </section>
      <div class="row">
        <CopyButton label={`Copy ${name}`} text={() => write(call, key)} />
        <p class="quiet-text">{needs(call)}</p>
      </div>
    </div>
  );
}
