// What is wrong with the page as it is shown, one line for each fault. Its body is that of an asynchronous function with dark, whether the
// reader has a dark screen.
const MOST = 5;
const TEXTS = 'main h1, main h2, main h3, main p, main li, main td, main th, main a, main pre code, main dd, main dt, nav a:not([href^="#skip"])';
const READABLE = 4.5;
const faults = [];

function say(what, elements) {
    elements.slice(0, MOST).forEach(element => faults.push(what + ': ' + element.outerHTML.slice(0, 160).replace(/\s+/g, ' ')));
}

function until(condition) {
    return new Promise(resolve => {
        const ask = () => condition() ? resolve() : requestAnimationFrame(ask);
        ask();
    });
}

function clipped(element) {
    for (let each = element.parentElement; each !== null && each !== document.body; each = each.parentElement) {
        if (getComputedStyle(each).overflowX !== 'visible') {
            return true;
        }
    }
    return false;
}

function beyond(element) {
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    return box.width > 1 && box.height > 1 && box.right > innerWidth + 1 && box.left < innerWidth && style.position !== 'fixed'
        && style.visibility !== 'hidden' && element.checkVisibility() && !clipped(element);
}

const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });

// red, green, blue from 0 to 255 and alpha from 0 to 1 of any colour that CSS can write
const known = new Map();
function parts(color) {
    if (!known.has(color)) {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
        known.set(color, [red, green, blue, alpha / 255]);
    }
    return known.get(color);
}

function background(element) {
    for (let each = element; each !== null; each = each.parentElement) {
        const color = parts(getComputedStyle(each).backgroundColor);
        if (color[3] > 0.5) {
            return color;
        }
    }
    return dark && getComputedStyle(document.documentElement).colorScheme.includes('dark') ? [18, 18, 18, 1] : [255, 255, 255, 1];
}

// WCAG 2.2, relative luminance
function luminance([red, green, blue]) {
    const [r, g, b] = [red, green, blue].map(each => each / 255).map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(element) {
    const behind = background(element);
    const front = parts(getComputedStyle(element).color);
    const mixed = front.slice(0, 3).map((each, at) => each * front[3] + behind[at] * (1 - front[3]));
    const [low, high] = [luminance(mixed), luminance(behind)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}

const ofVitePress = document.getElementById('app');
if (ofVitePress !== null) {
    await until(() => ofVitePress.__vue_app__ && document.documentElement.classList.contains('dark') === dark);
}
const images = [...document.images];
images.forEach(image => image.loading = 'eager');
await Promise.all(images.map(image => image.decode().catch(() => null)));
document.getAnimations().forEach(each => each.finish());
await until(() => true);
if (document.documentElement.scrollWidth > innerWidth) {
    faults.push('is ' + document.documentElement.scrollWidth + ' pixels wide');
}
say('reaches beyond the right edge', [...document.body.querySelectorAll('*')].filter(beyond));
say('missing image', images.filter(image => image.naturalWidth === 0));
say('image without a text', images.filter(image => !image.alt && image.closest('main') !== null));
const luminous = luminance(background(document.body));
if (dark ? luminous > 0.1 : luminous < 0.7) {
    faults.push('the background has luminance ' + luminous.toFixed(2));
}
say('hard to read', [...document.querySelectorAll(TEXTS)].filter(element => element.checkVisibility()
    && element.innerText.trim() !== '' && contrast(element) < READABLE));
return faults.join('\n');
