import {
  Badge,
  createTheme,
  Modal,
  type CSSVariablesResolver,
  type MantineThemeOverride,
} from '@mantine/core';

/** Mantine with the contrast that WCAG AA asks for, and names for buttons that only show a cross. */
export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'cyan',
  // White on the eighth cyan has a contrast of 4.35, on the ninth of 5.6.
  primaryShade: { light: 9, dark: 9 },
  autoContrast: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  components: {
    Badge: Badge.extend({ defaultProps: { tt: 'none', fw: 600 } }),
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
  },
});

/** Mantine's own dimmed and placeholder greys are too pale on white and too dark on black. */
export const contrastVariables: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-cyan-light-color': '#08525f',
    '--mantine-color-orange-light-color': '#7d2c05',
    '--mantine-color-green-light-color': '#1a5527',
    '--mantine-color-red-light-color': '#9b1c1c',
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[1],
  },
});
