import type { Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { GetKeyResponse } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { announce } from "../parts/live-region.tsx";
import { focusKeyField, keyFieldId } from "../problem/focus-key-field.ts";
import { ProblemView } from "../problem/problem-view.tsx";
import { readKey, shownKey } from "./read-key.ts";

const kept = "Kept in this tab only, and sent to this service only.";
const remembered = "Kept on this device until you forget it, and sent to this service only.";
const gone = "It is shown only once, and gone when this tab is closed: copy it.";
const once = "It is shown only once: copy it.";

export function KeyField() {
  const { key } = usePage().client;
  return (
    <section class="stack" aria-labelledby="key-title">
      <h3 id="key-title">API key</h3>
      {key.value === "" ? <NoKey /> : <OwnKey />}
    </section>
  );
}

/** Returns false if the text is not an API key. */
function take(text: string, key: Signal<string>): boolean {
  const read = readKey(text);
  if (read !== undefined) {
    key.value = read;
    announce("The key is used.");
  }
  return read !== undefined;
}

function NoKey() {
  const { account, key, offer } = usePage().client;
  const [violation, setViolation] = useState<string>();
  const [refusal, setRefusal] = useState<unknown>();
  const isRequired = offer.price.value?.plans.every(({ requiresKey }) => requiresKey) ?? false;
  // The field has no `name`, so that browsers never put the key into an address.
  const field = useRef<HTMLInputElement>(null);
  const create = () => {
    setRefusal(undefined);
    account.create().catch(setRefusal);
  };
  return (
    <>
      <p>{isRequired ? "This service answers only with a key." : "Calls are made without a key."}</p>
      <form
        class="key-form row"
        onSubmit={(event) => {
          event.preventDefault();
          setViolation(
            take(field.current?.value ?? "", key) ? undefined : "That is not a key: keys begin with kbz_",
          );
        }}
      >
        <label for={keyFieldId}>Key</label>
        <input
          ref={field}
          id={keyFieldId}
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="kbz_…"
          aria-describedby="key-note"
          aria-invalid={violation !== undefined}
        />
        <button type="submit">Use this key</button>
        {account.issuesKeys.value && (
          <button type="button" onClick={create}>
            Get a free key
          </button>
        )}
        <p
          id="key-note"
          class={violation ? "field-fault" : "quiet-text"}
          role={violation ? "alert" : undefined}
        >
          {violation ?? kept}
        </p>
      </form>
      {refusal !== undefined && <ProblemView error={refusal} onRetry={create} />}
    </>
  );
}

function OwnKey() {
  const { account, key, isKeyRemembered } = usePage().client;
  const state = account.state.value;
  return (
    <>
      <p class="row">
        <code>{shownKey(key.value)}</code>
        <CopyButton label="Copy the key" text={() => key.peek()} />
        <button
          type="button"
          onClick={() => {
            key.value = "";
            announce("The key is forgotten.");
            focusKeyField();
          }}
        >
          Forget
        </button>
        <label class="choice">
          <input
            type="checkbox"
            checked={isKeyRemembered.value}
            onChange={({ currentTarget: { checked } }) => {
              isKeyRemembered.value = checked;
            }}
          />
          Remember on this device
        </label>
      </p>
      <p class="quiet-text">{isKeyRemembered.value ? remembered : kept}</p>
      {state.kind === "asking" && <p>The key is looked up.</p>}
      {state.kind === "known" && <p>{planInWords(state.own)}</p>}
      {state.kind === "waiting" && (
        <ProblemView error={state.wait.error} wait={state.wait} onRetry={account.lookUp} />
      )}
      {state.kind === "failed" && <ProblemView error={state.error} onRetry={account.lookUp} />}
    </>
  );
}

function planInWords({ plan, name }: GetKeyResponse): string {
  return `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan${name ? `, the key “${name}”` : ""}`;
}

/** Shows a newly created key once, or asks whether to use a pasted key. */
export function NewKey() {
  const { client, input } = usePage();
  const { account, key, isKeyRemembered } = client;
  const button = useRef<HTMLButtonElement>(null);
  const pasted = input.key;
  const text = pasted.value;
  useEffect(() => {
    if (text !== undefined) {
      announce("You pasted an API key.");
      button.current?.focus();
    }
  }, [text]);
  const created = account.created.value;
  useEffect(() => {
    if (created !== undefined) {
      announce(`Your free key: ${gone}`);
    }
  }, [created]);
  if (text !== undefined) {
    return (
      <section class="new-key notice row" aria-label="Pasted API key">
        <p>You pasted an API key.</p>
        <button
          ref={button}
          type="button"
          class="first"
          onClick={() => {
            pasted.value = undefined;
            take(text, key);
          }}
        >
          Use it
        </button>
        <button
          type="button"
          onClick={() => {
            pasted.value = undefined;
          }}
        >
          Cancel
        </button>
      </section>
    );
  }
  return created === undefined || created !== key.value ? null : (
    <section class="new-key notice row" aria-label="New API key">
      <p>
        Your free key: <code>{created}</code>
      </p>
      <CopyButton label="Copy the key" text={() => created} />
      <button
        type="button"
        onClick={() => {
          account.created.value = undefined;
        }}
      >
        Done
      </button>
      <p class="quiet-text">{isKeyRemembered.value ? once : gone}</p>
    </section>
  );
}
