// The launcher's own look. It stands in a closed shadow root: neither side's rules reach the other.
// Written tightly: it is part of a script that every page of the host loads.
const shadow = 'box-shadow:0 6px 16px rgb(0 0 0/.2)';
export const style =
  ':host{all:initial}' +
  'button{position:fixed;right:24px;bottom:24px;z-index:1000;display:grid;place-items:center;width:48px;height:48px;' +
  `border:0;border-radius:50%;background:#186d8c;color:#fff;cursor:pointer;${shadow}}` +
  'button:hover{background:#125a75}button:focus-visible{outline:2px solid #186d8c;outline-offset:3px}' +
  'svg{width:22px;height:22px;fill:none;stroke:currentColor;stroke-width:1.7;stroke-linejoin:round}' +
  '.count{position:absolute;top:-3px;right:-3px;min-width:20px;padding:0 5px;border-radius:10px;background:#ba2f43;' +
  'font:600 12px/20px Inter,Arial,sans-serif}.count:empty{display:none}' +
  'iframe{position:fixed;right:24px;bottom:84px;z-index:1000;visibility:hidden;width:min(440px,calc(100vw - 32px));' +
  `height:min(720px,calc(100dvh - 108px));border:1px solid #d9d9d9;border-radius:8px;background:#fff;color-scheme:normal;${shadow}}` +
  'iframe.open{visibility:visible}' +
  '@media(max-width:600px){iframe{inset:0;width:100vw;height:100dvh;border:0;border-radius:0}}';
