// The launcher's own look. It stands in a closed shadow root: neither side's rules reach the other, but for the places
// of button and frame, which whoever else lays them out (extension/) sets as --agentd-… on the element.
// Written tightly: it is part of a script that every page of the host loads.
export const style =
  ':host{all:initial}' +
  'button,iframe{position:fixed;z-index:var(--agentd-z,1000);border:0;box-shadow:0 0 0 1px #8886,0 6px 16px #0003}' +
  'button{inset:var(--agentd-button,auto 24px 24px auto);display:grid;place-items:center;width:48px;height:48px;' +
  'border-radius:50%;background:#186d8c;color:#fff;cursor:pointer}' +
  'button:hover{background:#125a75}button:focus-visible{outline:3px solid #186d8c;outline-offset:3px}' +
  // Drawn, not written: a plain Linux has no sign that looks like it. It keeps its colour where a user forces colours.
  'button:before{content:"";width:20px;height:20px;background:currentColor;forced-color-adjust:none;' +
  'clip-path:path("M10 1l2 7 7 2-7 2-2 7-2-7-7-2 7-2z")}' +
  'span{position:absolute;top:-3px;right:-3px;padding:0 6px;border-radius:10px;background:#ba2f43;' +
  'font:600 12px/20px Arial}span:empty{display:none}' +
  'iframe{inset:var(--agentd-frame,auto 24px 84px auto);visibility:hidden;' +
  'width:var(--agentd-w,min(var(--w,440px),100vw - 32px));height:var(--agentd-h,min(var(--h,720px),100dvh - 108px));' +
  'border-radius:8px;background:#fff;color-scheme:normal}' +
  'iframe.open{visibility:visible}' +
  '@media(max-width:600px){iframe{inset:0;width:100vw;height:100dvh}}';
