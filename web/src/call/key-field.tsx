import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "../client/the-client.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { announce } from "../parts/live-region.tsx";
import { pasted } from "../pasted.ts";
import { focusKeyField, keyFieldId } from "../problem/focus-key-field.ts";
import { ProblemView } from "../problem/problem-view.tsx";
import { texts } from "../texts.ts";
import { readKey, shownKey } from "./read-key.ts";

const words = texts.call.key;
const { account, key, offer } = client;

/** The key that calls are made with: put in, got, told about and forgotten. */
export function KeyField() {
  const [isPasted, setIsPasted] = useState(false);
  useEffect(() => {
    if (pasted.value?.kind === "key") {
      pasted.value = undefined;
      setIsPasted(true);
      announce(key.peek() === "" ? words.pasted : words.pastedAgain);
      focusKeyField();
    }
  }, [pasted.value]);
  useEffect(() => setIsPasted(false), [key.value]);
  return (
    <section class="key" aria-labelledby="key-title">
      <h3 id="key-title">{words.title}</h3>
      {isPasted && <p>{key.value === "" ? words.pasted : words.pastedAgain}</p>}
      {key.value === "" ? <NoKey /> : <OwnKey />}
    </section>
  );
}

function NoKey() {
  const [fault, setFault] = useState<string>();
  const [refusal, setRefusal] = useState<unknown>();
  const isRequired = offer.price.value?.plans.every(({ requiresKey }) => requiresKey) ?? false;
  // It has no name, so that no browser ever puts it into an address.
  const field = useRef<HTMLInputElement>(null);
  const use = () => {
    const read = readKey(field.current?.value ?? "");
    setFault(read === undefined ? words.malformed : undefined);
    if (read !== undefined) {
      key.value = read;
      announce(words.used);
    }
  };
  const get = () => {
    setRefusal(undefined);
    account.create().then(() => announce(words.used), setRefusal);
  };
  return (
    <>
      <p>{isRequired ? words.required : words.none}</p>
      <form
        class="key-form"
        onSubmit={(event) => {
          event.preventDefault();
          use();
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
          aria-invalid={fault !== undefined}
        />
        <button type="submit">{words.use}</button>
        {account.issuesKeys.value && (
          <button type="button" onClick={get}>
            {words.get}
          </button>
        )}
        <p id="key-note" class={fault ? "field-fault" : "quiet-text"} role={fault ? "alert" : undefined}>
          {fault ?? words.kept}
        </p>
      </form>
      {refusal !== undefined && <ProblemView error={refusal} onRetry={get} />}
    </>
  );
}

function OwnKey() {
  const state = account.state.value;
  return (
    <>
      <p class="key-shown">
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
      {state.kind === "asking" && <p>{words.asking}</p>}
      {state.kind === "known" && <p>{words.plan(state.own.plan, state.own.name)}</p>}
      {state.kind === "waiting" && (
        <ProblemView error={state.wait.error} wait={state.wait} onRetry={account.lookUp} />
      )}
      {state.kind === "failed" && <ProblemView error={state.error} onRetry={account.lookUp} />}
    </>
  );
}
