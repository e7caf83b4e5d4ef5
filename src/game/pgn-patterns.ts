/** The end-of-file character of DOS. It counts as white space before white space, a tag or the end of the text. */
const endOfFile = "\u001a";

/** Matches one blank. Text from web pages and chats contains zero-width characters, which nobody sees. */
export const blank = `(?:[\\s\\u200b-\\u200d\\u2060]|${endOfFile}(?=[\\s${endOfFile}[]|$))`;

const sign = `[^\\s\\u200b-\\u200d\\u2060${endOfFile}{}();]`;

/** Matches a word: text without blanks, comments and parentheses, but with the parentheses of a promotion such as `b8(Q)`. */
export const word = `(?:${endOfFile}|${sign}*[a-h][18]\\([NBRQnbrq]\\)${sign}*|${sign}+)`;

/** Word processors replace the straight quotation marks of tags with these characters. */
export const quotes = "\"“”„‟″«»‹›'‘’‚`";

/** Matches the opening bracket, the name and the first quotation mark of a tag. The first group captures the name. */
export const tagOpening = `\\[[ \\t]*([A-Za-z0-9][A-Za-z0-9_+#=:-]{0,63})[ \\t]*[${quotes}]`;

/** Lines that begin with `%` are reserved for other programs. */
export const escapedLine = /^\ufeff?%/;

const points = "(?:[01½]|1/2|0[.,]5)";
const dash = "[-‐-―−:]";

/** Matches a result with spaces around its dash, such as `1/2 - 1/2`. */
export const spacedResult = `${points}(?:\\s{1,3}${dash}\\s{0,3}|${dash}\\s{1,3})${points}(?=[\\s;{}()]|$)`;
