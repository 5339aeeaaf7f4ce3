/** One set of 16 px, 1.5 px stroke icons. Decorative: the text or label beside them carries the meaning. */
const kPaths = {
  tide: "M1.5 5c2-2 4.3-2 6.5 0s4.5 2 6.5 0M1.5 8.5c2-2 4.3-2 6.5 0s4.5 2 6.5 0M1.5 12c2-2 4.3-2 6.5 0s4.5 2 6.5 0",
  dashboard: "M2 2.5h5v6H2zM9 2.5h5v3.5H9zM9 8.5h5v5H9zM2 11h5v2.5H2z",
  nodes: "M2 3h12v4H2zM2 9h12v4H2zM4.5 5h.01M4.5 11h.01",
  tasks: "M2 4l1.5 1.5L6 3M2 11l1.5 1.5L6 10M8.5 4.5H14M8.5 11.5H14",
  leaf: "M13.5 2.5C7 2.5 3 5.5 3 9.5c0 2 1.5 3.5 3.5 3.5c4.5 0 7-4.5 7-10.5zM2.5 14c1.5-3.5 4-5.5 7-6.5",
  teams: "M5.5 7.5a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5zM1 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 7.5a2 2 0 1 0 0-4M12 9.6c1.8.4 3 1.8 3 3.9",
  report: "M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13M6.5 8h4M6.5 11h4",
  settings: "M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M8 4.5a2 2 0 1 0 4 0a2 2 0 1 0-4 0M4 11.5a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  search: "M11 7a4 4 0 1 1-8 0a4 4 0 0 1 8 0zM10 10l3.5 3.5",
  warn: "M8 2L14.5 13.5H1.5zM8 6.5v3.5M8 11.8h.01",
  close: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  sun: "M8 5a3 3 0 1 0 0 6a3 3 0 1 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3.05 3.05l1.06 1.06M11.9 11.9l1.06 1.06M3.05 12.95l1.06-1.06M11.9 4.1l1.06-1.06",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3A5.5 5.5 0 1 0 13 9.5z",
  auto: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M8 2v12M8 5h3.5M8 8h5.5M8 11h3.5",
  help: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M6.2 6.5a1.8 1.8 0 1 1 2.6 1.6c-.5.3-.8.6-.8 1.2M8 11.5h.01",
  out: "M6.5 2.5H3v11h3.5M10 5l3 3l-3 3M13 8H6",
  bell: "M4 11V7.5a4 4 0 0 1 8 0V11l1 1H3zM6.8 14h2.4",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  refresh: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
} as const;

export function Icon({ name, size = 16 }: { name: keyof typeof kPaths; size?: number }): JSX.Element {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" focusable="false">
      <path d={kPaths[name]} />
    </svg>
  );
}
