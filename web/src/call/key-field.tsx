import type { Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { announce } from "../parts/live-region.tsx";
import { focusKeyField, keyFieldId } from "../problem/focus-key-field.ts";
import { ProblemView } from "../problem/problem-view.tsx";
import { texts } from "../texts.ts";
import { readKey, shownKey } from "./read-key.ts";

const words = texts.call.key;

/** The key that calls are sent with: to enter, to get, to copy and to forget. */
export function KeyField() {
  const { key } = usePage().client;
  return (
    <section class="key" aria-labelledby="key-title">
      <h3 id="key-title">{words.title}</h3>
      {key.value === "" ? <NoKey /> : <OwnKey />}
    </section>
  );
}

/** Uses the text as key, if it is one. Returns whether it is. */
function take(text: string, key: Signal<string>): boolean {
  const read = readKey(text);
  if (read !== undefined) {
    key.value = read;
    announce(words.used);
  }
  return read !== undefined;
}

function NoKey() {
  const { account, key, offer } = usePage().client;
  const [violation, setViolation] = useState<string>();
  const [refusal, setRefusal] = useState<unknown>();
  const isRequired = offer.price.value?.plans.every(({ requiresKey }) => requiresKey) ?? false;
  // The field has no name, so that no browser ever puts the key into an address.
  const field = useRef<HTMLInputElement>(null);
  const create = () => {
    setRefusal(undefined);
    account.create().catch(setRefusal);
  };
  return (
    <>
      <p>{isRequired ? words.required : words.none}</p>
      <form
        class="key-form"
        onSubmit={(event) => {
          event.preventDefault();
          setViolation(take(field.current?.value ?? "", key) ? undefined : words.malformed);
        }}
      >
        <label for={keyFieldId}>{words.label}</label>
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
        <button type="submit">{words.use}</button>
        {account.issuesKeys.value && (
          <button type="button" onClick={create}>
            {texts.problem.getKey}
          </button>
        )}
        <p
          id="key-note"
          class={violation ? "field-fault" : "quiet-text"}
          role={violation ? "alert" : undefined}
        >
          {violation ?? words.kept}
        </p>
      </form>
      {refusal !== undefined && <ProblemView error={refusal} onRetry={create} />}
    </>
  );
}

function OwnKey() {
  const { account, key } = usePage().client;
  const state = account.state.value;
  return (
    <>
      <p class="row">
        <code>{shownKey(key.value)}</code>
        <CopyButton label={words.copy} text={() => key.peek()} />
        <button
          type="button"
          onClick={() => {
            key.value = "";
            announce(words.forgotten);
            focusKeyField();
          }}
        >
          {words.forget}
        </button>
      </p>
      <p class="quiet-text">{words.kept}</p>
      {state.kind === "asking" && <p>{words.asking}</p>}
      {state.kind === "known" && <p>{words.plan(state.own.plan, state.own.name)}</p>}
      {state.kind === "waiting" && (
        <ProblemView error={state.wait.error} wait={state.wait} onRetry={account.lookUp} />
      )}
      {state.kind === "failed" && <ProblemView error={state.error} onRetry={account.lookUp} />}
    </>
  );
}

/** A key that this page has created, shown once, and a key that somebody has pasted outside of the field. */
export function NewKey() {
  const { client, pasted } = usePage();
  const { account, key } = client;
  const button = useRef<HTMLButtonElement>(null);
  const { waiting } = pasted;
  const text = waiting.value?.kind === "key" ? waiting.value.text : undefined;
  useEffect(() => {
    if (text !== undefined) {
      announce(words.pasted);
      button.current?.focus();
    }
  }, [text]);
  const created = account.created.value;
  useEffect(() => {
    if (created !== undefined) {
      announce(`${words.created} ${words.gone}`);
    }
  }, [created]);
  if (text !== undefined) {
    return (
      <section class="new-key row" aria-label={words.title}>
        <p>{words.pasted}</p>
        <button
          ref={button}
          type="button"
          class="first"
          onClick={() => {
            waiting.value = undefined;
            take(text, key);
          }}
        >
          {words.usePasted}
        </button>
        <button
          type="button"
          onClick={() => {
            waiting.value = undefined;
          }}
        >
          {texts.problem.cancel}
        </button>
      </section>
    );
  }
  return created === undefined || created !== key.value ? null : (
    <section class="new-key row" aria-label={words.title}>
      <p>
        {words.created} <code>{created}</code>
      </p>
      <CopyButton label={words.copy} text={() => created} />
      <button
        type="button"
        onClick={() => {
          account.created.value = undefined;
        }}
      >
        {words.done}
      </button>
      <p class="quiet-text">{words.gone}</p>
    </section>
  );
}
