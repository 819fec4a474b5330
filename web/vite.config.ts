import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig(({ command }) => {
  // A build started by the tests inherits their NODE_ENV, and would hold React's slow test form.
  if (command === 'build') process.env.NODE_ENV = 'production';
  return {
    plugins: [react()],
    build: {
      target: 'es2022',
      // The polyfill would be an inline script, which the policy forbids.
      modulePreload: { polyfill: false },
      // Nothing is inlined: styles and scripts are allowed as files only.
      assetsInlineLimit: 0,
    },
    server: { proxy: { '/api': 'http://localhost:3000' } },
  };
});
