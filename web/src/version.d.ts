/** Version of the package; scripts/build.mjs writes the script from VERSION. */
export declare const VERSION: string;
