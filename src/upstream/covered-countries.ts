/**
 * The countries that the service covers, by its own definition all 54 of Africa, in ISO 3166-1 alpha-2. Known without
 * asking, they save calls: nobody need ask whether they exist, nor how long the list of countries is. They never
 * answer anything.
 */
export const COVERED_COUNTRIES: ReadonlySet<string> = new Set(
  (
    'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA NE NG ' +
    'RW SC SD SL SN SO SS ST SZ TD TG TN TZ UG ZA ZM ZW'
  ).split(' '),
);
