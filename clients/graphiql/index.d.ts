/** The folder of the built pages: static files, of which `index.html` is the page. */
export declare const folder: string;
