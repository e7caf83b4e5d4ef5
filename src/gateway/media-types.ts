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
  return accept === undefined || accept === "*/*" || accept === mediaType || qualityOf(accept, mediaType) > 0;
}

/** Whether an Accept header asks for a media type rather than for the usual one. */
export function prefers(accept: string | undefined, mediaType: string, usual: string): boolean {
  if (accept === undefined || accept === "*/*" || accept === usual) {
    return false;
  }
  return qualityOf(accept, mediaType) > qualityOf(accept, usual);
}

/** How welcome a media type is, from 0 to 1. */
function qualityOf(accept: string, mediaType: string): number {
  const group = `${mediaType.slice(0, mediaType.indexOf("/"))}/*`;
  let best = { precision: -1, quality: accept.trim() === "" ? 1 : 0 };
  for (const range of accept.split(",")) {
    const [name = "", ...parameters] = partsOf(range);
    const precision = ["*/*", group, mediaType].indexOf(name);
    if (precision > best.precision) {
      best = { precision, quality: qualityFrom(parameters) };
    }
  }
  return best.quality;
}

function partsOf(header: string): string[] {
  return header.split(";").map((part) => part.trim().toLowerCase());
}

/** What is no number is no reason to refuse. */
function qualityFrom(parameters: readonly string[]): number {
  const quality = parameters.find((parameter) => /^q=[01](?:\.\d*)?$/.test(parameter));
  return quality === undefined ? 1 : Number(quality.slice(2));
}
