import { useEffect, useRef, useState } from "preact/hooks";
import type { GetKeyResponse } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { getNewKey, issuesKeys, keyState, lookUpKey } from "../client/account.ts";
import { key } from "../client/key.ts";
import { loadOffer, price } from "../client/offer.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { announce } from "../parts/live-region.tsx";
import { pasted } from "../pasted.ts";
import { focusKeyField, focusKeyFieldSoon, keyFieldId } from "../problem/focus-key-field.ts";
import { ProblemView } from "../problem/problem-view.tsx";
import { duration } from "../problem/tell-problem.ts";
import { texts } from "../texts.ts";
import { readKey, shownKey } from "./read-key.ts";

const words = texts.call.key;

/** The key that calls are made with: put in, got, told about and forgotten. */
export function KeyField() {
  useEffect(() => {
    // If the service does not answer, the calls themselves report that.
    loadOffer().catch(() => {});
  }, []);
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
  const isRequired = price.value?.plans.every(({ requiresKey }) => requiresKey) ?? false;
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
    getNewKey().then(() => announce(words.used), setRefusal);
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
        {issuesKeys.value && (
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
  const state = keyState.value;
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
            focusKeyFieldSoon();
          }}
        >
          {words.forget}
        </button>
      </p>
      {state.kind === "asking" && <p>{words.asking}</p>}
      {state.kind === "known" && <Own own={state.own} />}
      {state.kind === "failed" && <ProblemView error={state.error} onRetry={() => void lookUpKey()} />}
    </>
  );
}

function Own({ own }: { readonly own: GetKeyResponse }) {
  return (
    <>
      <p>
        {words.plan(own.plan)}
        {own.name !== undefined && own.name !== "" && `, ${words.named(own.name)}`}
      </p>
      <ul class="key-left">
        {own.remaining.map(({ name, unit, remaining, quota }) => {
          const [left, all] = [Number(remaining), Number(quota)];
          return (
            <li key={name}>
              {unit === "engine_ms"
                ? words.engineTime(duration(left), duration(all))
                : words.counted(words.units[unit] ?? unit, texts.call.limitLeft(left, all))}
            </li>
          );
        })}
      </ul>
    </>
  );
}
