import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2022',
    // The polyfill would be an inline script, which the policy forbids.
    modulePreload: { polyfill: false },
    // Nothing is inlined: the policy allows pictures as data, but styles and scripts only as files.
    assetsInlineLimit: 0,
    reportCompressedSize: true,
  },
  server: { proxy: { '/api': 'http://localhost:3000' } },
});
