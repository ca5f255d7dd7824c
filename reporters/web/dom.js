// SPDX-License-Identifier: Apache-2.0
// Making elements.  Text only ever becomes a text node: whatever a name contains, it is never read as markup.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes ?? {})) {
		if (value === undefined || value === null || value === false)
			continue;
		if (name.startsWith('on'))
			node.addEventListener(name.slice(2), value);
		else
			node.setAttribute(name, value === true ? '' : String(value));
	}
	for (const child of children.flat(Infinity)) {
		if (child !== undefined && child !== null && child !== false)
			node.append(child);
	}
	return node;
}

// el('a', { href: '#x', onclick: f }, 'text', otherElement)
export function el(name, attributes, ...children) {
	return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
	return fill(document.createElementNS(SVG, name), attributes, children);
}

export function replace(parent, ...children) {
	parent.replaceChildren(...children.flat(Infinity).filter((child) => child));
	return parent;
}

// What stands further down may come after the first picture.
export function afterPaint(work) {
	requestAnimationFrame(() => setTimeout(work));
}

// What a reader may ask for next is prepared while the browser has nothing else to do.
export function whenIdle(work) {
	if ('requestIdleCallback' in window)
		requestIdleCallback(work);
	else
		setTimeout(work, 200);
}

// What the style sheet says now: light or dark, or what the user's system forces.
export function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Calls back when the look of the page changes: theme, forced colours, printing.
export function onThemeChange(callback) {
	for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)', 'print'])
		matchMedia(query).addEventListener('change', callback);
}

export function onResize(element, callback) {
	let width = element.clientWidth;
	new ResizeObserver(() => {
		if (element.clientWidth !== width) {
			width = element.clientWidth;
			callback();
		}
	}).observe(element);
}

// A figure that scrolls sideways must be reachable by keyboard.
export function scroller(label, ...children) {
	return el('div', { class: 'scroller', tabindex: 0, role: 'group', 'aria-label': label }, ...children);
}
