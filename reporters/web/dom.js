// SPDX-License-Identifier: Apache-2.0
// Creates elements. Text always becomes a text node, so a name is never parsed as markup.

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
			node.append(...(node.localName === 'code' && typeof child === 'string' ? names(child) : [child]));
	}
	return node;
}

const LONGEST_PART = 40;
const AMOUNT = /(\(?[+−]?[\d.]+ (?:%|[nµm]?s\b|[KMG]?i?B\b)\)?)/;

// Lets a long name break between its parts: after ::, _, <, a comma, a slash or a blank. A number
// and its unit stay together.
export function names(text) {
	return String(text).split(AMOUNT).flatMap((words, i) => {
		if (i % 2 === 1)
			return [el('span', { class: 'amount' }, words)];
		const parts = words.split(/(?<=::|[_<,/\s])(?!>)/).flatMap((part) => (part.length > LONGEST_PART ? part.match(new RegExp(`[^]{1,${LONGEST_PART}}`, 'gu')) : [part]));
		return parts.flatMap((part, k) => (k > 0 ? [document.createElement('wbr'), part] : [part]));
	});
}

// Makes an element: el('a', { href: '#x', onclick: f }, 'text', otherElement).
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

// Runs `work` after the next paint, to fill the lower parts of a page.
export function afterPaint(work) {
	requestAnimationFrame(() => setTimeout(work));
}

// Runs `work` while the browser is idle, to prepare likely next views.
export function whenIdle(work) {
	if ('requestIdleCallback' in window)
		requestIdleCallback(work);
	else
		setTimeout(work, 200);
}

// Returns the style sheet's colour in the current theme: light, dark, or forced by the system.
export function color(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Calls back when the page's appearance changes: theme, forced colours, printing.
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

// Makes a figure that scrolls sideways reachable by keyboard.
export function scroller(label, ...children) {
	return el('div', { class: 'scroller', tabindex: 0, role: 'group', 'aria-label': label }, ...children);
}
