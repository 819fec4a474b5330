import { setNonce } from 'get-nonce';

/** The nonce that the server wrote into this page: without it no style made at run time applies. */
export function readStyleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
}

/** Tells it to the scroll lock of dialogs, which makes a style tag of its own. */
export function shareStyleNonce(): void {
  setNonce(readStyleNonce());
}
