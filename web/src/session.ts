import { useSyncExternalStore } from 'react';

const KEY = 'unsilent.token';
const listeners = new Set<() => void>();

function emit(): void {
  for (const listener of listeners) listener();
}

/** The staff token of this tab; null when nobody is signed in. */
export function currentToken(): string | null {
  return sessionStorage.getItem(KEY);
}

/** Signs this tab in. The token is gone when the tab closes. */
export function signIn(token: string): void {
  sessionStorage.setItem(KEY, token);
  emit();
}

/** Signs this tab out. */
export function signOut(): void {
  sessionStorage.removeItem(KEY);
  emit();
}

/** The token, and a new rendering whenever somebody signs in or out. */
export function useToken(): string | null {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, currentToken);
}

/** `#token=…` signs in and is taken out of the address at once, so that nobody copies it along. */
export function adoptTokenFromAddress(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  if (token !== '') signIn(token);
}
