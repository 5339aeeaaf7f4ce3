/** Canvas colours come from the same CSS variables as the page. */
export const kFont = '12px -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei UI", "Microsoft YaHei", "Noto Sans SC", "Noto Sans CJK SC", "Source Han Sans SC", sans-serif';

export function cssColour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Diagonal hatch, pitch 6 px, in device pixels. */
export function hatch(ctx: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, colour: string, dpr: number, pitch = 6): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, h);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * dpr;
  const step = pitch * dpr;
  const start = Math.floor((x - h) / step) * step;
  for (let a = start; a < x + w + h; a += step) {
    ctx.beginPath();
    ctx.moveTo(a, y + h);
    ctx.lineTo(a + h, y);
    ctx.stroke();
  }
  ctx.restore();
}
