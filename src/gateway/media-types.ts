/** Whether a Content-Type says JSON in UTF-8. Parameters that say nothing of the encoding are let pass. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") {
    return true;
  }
  const [type, ...parameters] = partsOf(contentType ?? "");
  return (
    type === "application/json" &&
    parameters.every((each) => !each.startsWith("charset=") || /^charset="?utf-8"?$/.test(each))
  );
}

/** Whether an Accept header lets an answer of this media type pass: the range that names it best decides. */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined || accept === "*/*" || accept === mediaType) {
    return true;
  }
  const group = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  let best = { precision: -1, wanted: accept.trim() === "" };
  for (const range of accept.split(",")) {
    const [name = "", ...parameters] = partsOf(range);
    const precision = ["*/*", group, mediaType].indexOf(name);
    if (precision > best.precision) {
      best = { precision, wanted: !parameters.some(isZeroQuality) };
    }
  }
  return best.wanted;
}

function partsOf(header: string): string[] {
  return header.split(";").map((part) => part.trim().toLowerCase());
}

function isZeroQuality(parameter: string): boolean {
  return /^q=0(?:\.0*)?$/.test(parameter);
}
