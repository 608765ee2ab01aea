/** Copies a text. Reports whether it did: on plain http there is no clipboard, and the old way may be forbidden. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Refused by the browser: the old way may still work.
  }
  const back = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr';
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (back instanceof HTMLElement) back.focus();
  return done;
}
