import { rowsOf, wordsOf } from './table.ts';

/** Origin of the figures of a measure; `start` and `end` are typical values, then and in 2025. */
export type Shape =
  /** Persons of the country. */
  | 'population'
  /** US dollars: persons times income. */
  | 'gdp'
  /** US dollars a head. */
  | 'income'
  /** Percent, always within 0 and 100. */
  | 'share'
  /** Persons: a percentage of the population. */
  | 'people'
  /** US dollars: a percentage of the gross domestic product. */
  | 'money'
  /** A quantity above zero, on its way from `start` to `end`. */
  | 'level'
  /** A rate about `start`, give or take `end`; may be below zero. */
  | 'rate'
  /** A month's weather: `start` on average, `end` between the seasons; never below zero. */
  | 'season'
  /** Units of the country's currency for one US dollar. */
  | 'exchange';

/** Interval of figures, and the form of their periods: `2024`, `2024-Q2`, `2024-03`, `2024-03-15`. */
export type Frequency = 'annual' | 'quarterly' | 'monthly' | 'weekly' | 'daily' | 'ad_hoc';

/** Origin of figures: it decides their `value_status`, their bounds, and the number of missing years. */
export type Method = 'official' | 'projected' | 'modelled' | 'survey';

export type Category = (typeof CATEGORIES)[number];

export interface Indicator {
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  readonly category: Category;
  /** Keys of the sources; of two, the second has the years before 1990. */
  readonly sources: readonly string[];
  readonly shape: Shape;
  readonly start: number;
  readonly end: number;
  /** The first year of its series. */
  readonly from: number;
  /** The last year of the figures for whole countries. */
  readonly until: number;
  readonly frequency: Frequency;
  readonly method: Method;
  /** Taken at a point in time (so that `as_of_period` is set), not over a period. */
  readonly stock: boolean;
  /** The newest stock was taken half a year after the year it stands for. */
  readonly late: boolean;
  /** Years are fiscal in some countries: the period is the day the fiscal year ended, in the year after. */
  readonly fiscal: boolean;
  /** Share of the countries that have the measure at all. */
  readonly cover: number;
  /** The only countries that have it (lower case); null for no such bound. */
  readonly only: readonly string[] | null;
  /** Countries (lower case) that also have monthly figures for places within them. */
  readonly places: readonly string[];
  /** The first month of the figures for places: `1981-01`. */
  readonly placesFrom: string;
  /** Share of the countries whose figure was, or is, a real zero. */
  readonly zero: number;
  /** True if nothing is caught without a sea: zero in every landlocked country. */
  readonly marine: boolean;
  /** Distance between countries, 0 to 1. */
  readonly spread: number;
  /** False for measures that the catalogue names and that have no row. */
  readonly hasData: boolean;
}

const CATEGORIES = [
  'demographics',
  'economy',
  'infrastructure',
  'energy',
  'climate',
  'health',
  'education',
  'agriculture',
  'humanitarian',
  'governance',
] as const;

// key | name | unit | sources | shape start end | options. Options not given: from=1960 annual official cover=0.93.
const TABLES: Record<Category, string> = {
  demographics: `
population_total|Population, total|persons|world_bank_wdi un_wpp|population|from=1950 projected stock cover=1
population_female_pct|Population, female|percent of total population|un_wpp|share 50.3 50.1|from=1950 projected stock spread=0.01
population_growth_pct|Population growth|percent per year|un_wpp|rate 2.5 0.6|from=1951 projected
population_under_15_pct|Population aged 0 to 14|percent of total population|un_wpp|share 44 38|from=1950 projected stock spread=0.1
population_over_65_pct|Population aged 65 and above|percent of total population|un_wpp|share 3 3.8|from=1950 projected stock
population_density_per_km2|Population density|persons per square kilometre|world_bank_wdi|level 18 75|from=1961 stock spread=0.9
urban_population_pct|Urban population|percent of total population|un_habitat world_bank_wdi|share 14 48|from=1950 projected stock
urban_population_total|Urban population, total|persons|un_habitat|people 14 48|stock
life_expectancy|Life expectancy at birth, total|years|world_bank_wdi un_wpp|level 38 63|from=1950 modelled cover=1 spread=0.06
fertility_rate_births_per_woman|Total fertility rate|births per woman|un_wpp|level 6.7 4.1|from=1950 modelled spread=0.12
birth_rate_per_1000|Crude birth rate|births per 1,000 people|un_wpp|level 48 31|from=1950 modelled spread=0.1
net_migration_total|Net migration|persons|un_wpp|rate 0 40000|projected
median_age_years|Median age|years|un_wpp|level 18.2 19.8|from=1950 modelled spread=0.1
adolescent_fertility_per_1000|Adolescent fertility rate|births per 1,000 women aged 15 to 19|un_wpp|level 150 85|modelled
diaspora_population_total|Population living abroad|persons|un_wpp|people 1.5 4|stock from=1990 survey
slum_population_pct|Urban population living in slums|percent of urban population|un_habitat|share 70 50|from=1990 survey
`,
  economy: `
gdp_current_usd|Gross domestic product, current prices|US dollars|world_bank_wdi|gdp|fiscal cover=1
gdp_per_capita_current_usd|Gross domestic product per head, current prices|US dollars per person|world_bank_wdi|income|cover=1
gdp_growth_annual_pct|Growth of gross domestic product|percent per year|world_bank_wdi imf_weo|rate 4 5|from=1961 projected
gdp_growth_quarterly_yoy_pct|Growth of gross domestic product, quarter on year|percent|imf_ifs|rate 4 3|quarterly from=1995 cover=0.4
gdp_ppp_international_usd|Gross domestic product, purchasing power parity|international dollars|imf_weo|money 230 260|from=1990 projected
inflation_cpi_annual_pct|Inflation, consumer prices, annual average|percent per year|world_bank_wdi|rate 8 9|from=1961
inflation_cpi_latest_yoy_pct|Inflation, consumer prices, month on year|percent|imf_ifs|rate 7 6|monthly from=1981 cover=0.85
consumer_price_index|Consumer price index|2010 = 100|imf_ifs|level 4 280|monthly from=1980 cover=0.85 spread=0.3
policy_rate_pct|Central bank policy rate|percent per year|cbk_ke_signals|rate 9 3|ad_hoc from=2006 stock only=ke,ng,gh,ug,tz,za,eg,ma,rw,zm,mu,mz
overnight_interbank_rate_pct|Overnight interbank rate|percent per year|cbk_ke_signals|rate 8 3|daily from=2023 stock only=ke,ug,tz,gh,za
interbank_7d_rate_pct|Interbank rate, seven days|percent per year|cbk_ke_signals|rate 8.5 3|weekly from=2015 stock only=ke,ug,tz,gh
treasury_bill_91d_rate_pct|Treasury bill rate, 91 days|percent per year|imf_ifs|rate 10 4|weekly from=2018 stock only=ke,ng,gh,ug,tz,za,eg,zm
official_exchange_rate_latest_lcu_per_usd|Official exchange rate, latest|local currency units per US dollar|fx_usd_daily|exchange|daily from=2024 stock cover=1
official_exchange_rate_avg_lcu_per_usd|Official exchange rate, average of the year|local currency units per US dollar|imf_ifs|exchange|from=1990
lending_rate_pct|Lending rate|percent per year|imf_ifs|rate 16 5|monthly from=1995 cover=0.6
broad_money_pct_gdp|Broad money|percent of GDP|world_bank_wdi|share 20 38|stock
private_credit_pct_gdp|Domestic credit to the private sector|percent of GDP|world_bank_wdi|share 11 24|stock
reserves_total_usd|Total reserves, gold included|US dollars|world_bank_wdi|money 6 11|stock
reserves_months_of_imports|Total reserves in months of imports|months|world_bank_wdi|level 2.5 4|stock spread=0.5
current_account_pct_gdp|Current account balance|percent of GDP|imf_weo|rate -4 6|from=1980 projected
exports_goods_services_usd|Exports of goods and services|US dollars|world_bank_wdi|money 18 26|
imports_goods_services_usd|Imports of goods and services|US dollars|world_bank_wdi|money 22 33|
trade_balance_goods_usd|Balance of trade in goods|US dollars|un_comtrade|rate -900000000 2100000000|from=1995
merchandise_exports_quarterly_usd|Exports of goods, quarter|US dollars|un_comtrade|money 4 6|quarterly from=2010 cover=0.5
fdi_net_inflows_usd|Foreign direct investment, net inflows|US dollars|unctad_stat|rate 400000000 700000000|from=1970
remittances_received_usd|Personal remittances received|US dollars|world_bank_wdi|money 1 4|from=1975 zero=0.1
remittances_pct_gdp|Personal remittances received|percent of GDP|world_bank_wdi|share 1 4|from=1975
oda_received_usd|Official development assistance received, net|US dollars|world_bank_wdi|money 4 5|zero=0.04
external_debt_total_usd|External debt stocks, total|US dollars|world_bank_ids|money 15 45|from=1970 stock
government_debt_pct_gdp|General government gross debt|percent of GDP|imf_weo|level 35 64|from=1990 projected stock
government_revenue_pct_gdp|General government revenue|percent of GDP|imf_weo|share 18 19|from=1990 projected fiscal
government_expenditure_pct_gdp|General government expenditure|percent of GDP|imf_weo|share 22 24|from=1990 projected fiscal
fiscal_balance_pct_gdp|Fiscal balance|percent of GDP|imf_weo|rate -3.5 4|from=1990 projected fiscal
tax_revenue_pct_gdp|Tax revenue|percent of GDP|world_bank_wdi|share 11 14|from=1972 fiscal
agriculture_value_added_pct_gdp|Agriculture, value added|percent of GDP|world_bank_wdi|share 36 21|
industry_value_added_pct_gdp|Industry, value added|percent of GDP|world_bank_wdi|share 20 25|
manufacturing_value_added_pct_gdp|Manufacturing, value added|percent of GDP|world_bank_wdi|share 9 11|
unemployment_rate_pct|Unemployment rate|percent of labour force|ilo_ilostat|share 8 8|from=1991 modelled spread=0.7
unemployment_rate_quarterly_pct|Unemployment rate, quarter|percent of labour force|ilo_ilostat|share 12 14|quarterly from=2008 only=za,eg,ma,ng,na,bw,mu,tn,rw
labour_force_participation_pct|Labour force participation|percent of population aged 15 and above|ilo_ilostat|share 66 65|from=1990 modelled
poverty_headcount_215_pct|Poverty headcount at 2.15 dollars a day|percent of total population|world_bank_wdi|share 55 34|from=1985 survey
gini_index|Gini index|index, 0 to 100|world_bank_wdi|share 45 41|from=1985 survey
tourism_arrivals_total|International tourist arrivals|persons|unctad_stat|people 1 7|from=1995
account_ownership_pct|Adults with a financial account|percent of population aged 15 and above|world_bank_findex|share 20 55|from=2011 survey
median_wealth_usd|Median wealth|US dollars per adult|undp_hdr|level 400 1200|nodata
`,
  infrastructure: `
mobile_subscriptions_per_100|Mobile cellular subscriptions|subscriptions_per_100_people|itu_datahub|level 0.05 98|from=1990 cover=1 stock zero=0.6 spread=0.15
fixed_telephone_per_100|Fixed telephone subscriptions|subscriptions_per_100_people|itu_datahub|level 0.6 1.8|from=1975 stock spread=0.9
fixed_broadband_per_100|Fixed broadband subscriptions|subscriptions_per_100_people|itu_datahub|level 0.01 1.9|from=2001 stock spread=0.9 zero=0.3
internet_users_pct|Individuals using the internet|percent of total population|itu_datahub|share 0.1 42|from=1990 zero=0.7
mobile_coverage_4g_pct|Population covered by a 4G network|percent of total population|gsma_intelligence|share 2 74|from=2012 stock zero=0.3
mobile_money_accounts_per_1000|Registered mobile money accounts|accounts per 1,000 adults|gsma_intelligence|level 2 1100|from=2008 stock zero=0.2
smartphone_adoption_pct|Smartphone adoption|percent of mobile connections|gsma_intelligence|share 4 56|from=2010
roads_paved_pct|Paved roads|percent of road network|afdb_data|share 12 29|from=1990 survey
road_network_km|Road network, total|kilometres|afdb_data|level 19000 31000|from=1990 stock survey spread=0.9
rail_lines_km|Rail lines, total route|kilometres|world_bank_wdi|level 1900 1700|from=1980 stock spread=0.8 zero=0.35
air_passengers_total|Air transport, passengers carried|persons|world_bank_wdi|people 2 9|from=1970
port_container_traffic_teu|Container port traffic|twenty-foot equivalent units|unctad_stat|level 60000 700000|from=2000 marine spread=0.9
liner_shipping_connectivity_index|Liner shipping connectivity|index, quarter|unctad_stat|level 8 24|quarterly from=2006 marine spread=0.6
access_safe_water_pct|People using safely managed drinking water|percent of total population|unicef_data|share 15 33|from=2000 modelled
access_basic_sanitation_pct|People using at least basic sanitation|percent of total population|unicef_data|share 24 37|from=2000 modelled
logistics_performance_score|Logistics performance|score, 1 to 5|world_bank_wdi|level 2.3 2.6|from=2007 survey spread=0.15
secure_servers_per_million|Secure internet servers|servers per million people|world_bank_wdi|level 0.5 260|from=2010 stock spread=0.9
data_centre_capacity_mw|Data centre capacity|megawatts|gsma_intelligence|level 1 60|nodata
`,
  energy: `
access_electricity_pct|Access to electricity|percent of total population|world_bank_wdi|share 22 60|from=1990 modelled
access_electricity_rural_pct|Access to electricity, rural|percent of rural population|world_bank_wdi|share 7 42|from=1990 modelled
access_clean_cooking_pct|Access to clean cooking|percent of total population|who_gho|share 12 28|from=2000 modelled spread=0.8
electricity_generation_twh|Electricity generation|terawatt-hours|ember_electricity iea_balances|level 0.8 8|from=1971 spread=0.95
electricity_generation_monthly_gwh|Electricity generation, month|gigawatt-hours|ember_electricity|level 240 620|monthly from=2015 only=ke,za,ng,eg,ma,tn,sn
electricity_consumption_per_capita_kwh|Electricity consumption per head|kilowatt-hours per person|iea_balances|level 180 520|from=1971 spread=0.8
electricity_from_hydro_pct|Electricity from hydropower|percent of generation|ember_electricity|share 45 38|from=1971 spread=0.8 zero=0.25
electricity_from_coal_pct|Electricity from coal|percent of generation|ember_electricity|share 10 8|from=1971 zero=0.7
electricity_from_gas_pct|Electricity from gas|percent of generation|ember_electricity|share 10 25|from=1971 zero=0.4
electricity_from_solar_pct|Electricity from solar|percent of generation|ember_electricity|share 0.02 7|from=2000 zero=0.4
electricity_from_wind_pct|Electricity from wind|percent of generation|ember_electricity|share 0.02 4|from=2000 zero=0.7
electricity_from_nuclear_pct|Electricity from nuclear power|percent of generation|ember_electricity|share 3 4|from=1985 zero=0.98
renewable_capacity_mw|Renewable electricity capacity|megawatts|irena_capacity|level 90 800|from=2000 stock spread=0.9
solar_capacity_mw|Solar electricity capacity|megawatts|irena_capacity|level 0.2 190|from=2000 stock spread=0.9 zero=0.3
renewable_energy_consumption_pct|Renewable energy consumption|percent of final energy consumption|iea_balances|share 72 60|from=1990
energy_use_per_capita_kgoe|Energy use per head|kilograms of oil equivalent per person|iea_balances|level 450 640|from=1971 spread=0.7
energy_imports_net_pct|Energy imports, net|percent of energy use|iea_balances|rate 10 60|from=1971
transmission_losses_pct|Transmission and distribution losses|percent of output|iea_balances|share 14 17|from=1971
fuel_price_petrol_usd_per_litre|Pump price of petrol|US dollars per litre|world_bank_wdi|level 0.5 1.2|monthly from=2016 cover=0.5
oil_production_kbd|Crude oil production|thousand barrels per day|iea_balances|level 180 220|from=1965 zero=0.7 spread=0.9
`,
  climate: `
co2_emissions_kt|Carbon dioxide emissions|kilotonnes|edgar_emissions|level 1900 14000|from=1970 modelled spread=0.95
co2_emissions_per_capita_t|Carbon dioxide emissions per head|tonnes per person|edgar_emissions|level 0.35 0.8|from=1970 modelled spread=0.9
methane_emissions_kt_co2e|Methane emissions|kilotonnes of CO2 equivalent|edgar_emissions|level 8000 19000|from=1970 modelled spread=0.9
ghg_emissions_total_kt_co2e|Greenhouse gas emissions, total|kilotonnes of CO2 equivalent|edgar_emissions|level 15000 42000|from=1970 modelled spread=0.9
rainfall_monthly_mm|Rainfall, month|millimetres|chirps_rainfall|season 75 90|monthly from=1950 cover=1 places=ke,et,ng,so placesFrom=1981-01
temperature_mean_monthly_c|Mean temperature, month|degrees Celsius|era5_climate|season 24.5 4|monthly from=1950 spread=0.08 cover=1
temperature_anomaly_c|Temperature anomaly against 1991 to 2020|degrees Celsius|era5_climate|rate 0.3 0.9|from=1950
forest_area_pct|Forest area|percent of land area|fao_faostat|share 32 26|from=1990 stock spread=0.9
tree_cover_loss_ha|Tree cover loss|hectares|fao_faostat|level 30000 70000|from=2001 spread=0.95 zero=0.08
protected_land_pct|Terrestrial protected areas|percent of land area|world_bank_wdi|share 10 16|from=2000 stock
protected_marine_pct|Marine protected areas|percent of territorial waters|world_bank_wdi|share 2 9|from=2000 stock marine
freshwater_per_capita_m3|Renewable freshwater per head|cubic metres per person|fao_aquastat|level 16000 3800|from=1962 stock spread=0.9
freshwater_withdrawal_pct|Freshwater withdrawals|percent of internal resources|fao_aquastat|share 4 9|from=1990
pm25_exposure_ug_m3|Exposure to fine particles, mean|micrograms per cubic metre|who_gho|level 42 37|from=1990 modelled
disaster_affected_persons|People affected by disasters|persons|gdacs_alerts|people 0.2 1|from=1970 zero=0.5
drought_index_spei|Drought index, three months|standard deviations|era5_climate|rate 0 2|monthly from=1950
soil_moisture_anomaly|Soil moisture anomaly|standard deviations|era5_climate|rate 0 1.6|nodata
`,
  health: `
infant_mortality_per_1000|Infant mortality rate|deaths per 1,000 live births|un_igme|level 160 42|from=1955 modelled
under5_mortality_per_1000|Under-five mortality rate|deaths per 1,000 live births|un_igme|level 260 58|from=1955 modelled
neonatal_mortality_per_1000|Neonatal mortality rate|deaths per 1,000 live births|un_igme|level 62 25|from=1965 modelled
maternal_mortality_per_100000|Maternal mortality ratio|deaths per 100,000 live births|who_gho|level 900 380|from=1985 modelled spread=0.5
hiv_prevalence_pct|HIV prevalence|percent of population aged 15 to 49|unaids_estimates|share 1.5 2.6|from=1990 modelled spread=0.9
hiv_new_infections_total|New HIV infections|persons|unaids_estimates|people 0.2 0.06|from=1990 modelled
antiretroviral_coverage_pct|Antiretroviral therapy coverage|percent of people living with HIV|unaids_estimates|share 1 78|from=2000 modelled
malaria_incidence_per_1000|Malaria incidence|cases per 1,000 people at risk|who_gho|level 360 190|from=2000 modelled spread=0.7 zero=0.2
malaria_deaths_total|Malaria deaths|persons|who_gho|people 0.09 0.04|from=2000 modelled zero=0.2
tuberculosis_incidence_per_100000|Tuberculosis incidence|cases per 100,000 people|who_gho|level 270 175|from=2000 modelled spread=0.6
cholera_cases_reported|Cholera cases reported|cases|who_gho|people 0.01 0.01|from=1970 zero=0.6
immunisation_dpt3_pct|Immunisation with DPT, third dose|percent of children aged 12 to 23 months|unicef_data|share 22 79|from=1980 spread=0.5
immunisation_measles_pct|Immunisation against measles|percent of children aged 12 to 23 months|unicef_data|share 24 74|from=1980 spread=0.5
births_attended_skilled_pct|Births attended by skilled staff|percent of births|unicef_data|share 42 73|from=1985 survey
stunting_under5_pct|Stunting among children under five|percent of children under five|unicef_data|share 48 30|from=1985 survey
physicians_per_1000|Physicians|per 1,000 people|who_gho|level 0.06 0.3|from=1970 survey spread=0.8
nurses_midwives_per_1000|Nurses and midwives|per 1,000 people|who_gho|level 0.5 1.2|from=1980 survey spread=0.6
health_expenditure_pct_gdp|Current health expenditure|percent of GDP|who_gho|share 4.6 5|from=2000
health_expenditure_per_capita_usd|Current health expenditure per head|US dollars per person|who_gho|level 32 95|from=2000 spread=0.8
out_of_pocket_pct|Out-of-pocket health expenditure|percent of current health expenditure|who_gho|share 42 33|from=2000
contraceptive_prevalence_pct|Contraceptive prevalence|percent of married women aged 15 to 49|un_wpp|share 6 36|from=1975 survey
diabetes_prevalence_pct|Diabetes prevalence|percent of population aged 20 to 79|who_gho|share 3 6|from=2000 survey
`,
  education: `
literacy_adult_pct|Adult literacy rate|percent of population aged 15 and above|unesco_uis|share 25 69|from=1975 survey
literacy_youth_pct|Youth literacy rate|percent of population aged 15 to 24|unesco_uis|share 38 79|from=1975 survey
enrolment_primary_net_pct|Net enrolment, primary|percent of primary school age|unesco_uis|share 48 82|from=1970 spread=0.6
enrolment_primary_gross_pct|Gross enrolment, primary|percent of primary school age|unesco_uis|level 55 101|from=1970
enrolment_secondary_gross_pct|Gross enrolment, secondary|percent of secondary school age|unesco_uis|level 9 46|from=1970 spread=0.4
enrolment_tertiary_gross_pct|Gross enrolment, tertiary|percent of tertiary school age|unesco_uis|share 1 11|from=1970 spread=0.6
completion_primary_pct|Completion of primary school|percent of relevant age group|unesco_uis|share 34 68|from=1971 survey
out_of_school_children_total|Children out of primary school|persons|unesco_uis|people 6 3|from=1990
pupil_teacher_ratio_primary|Pupils per teacher, primary|pupils per teacher|unesco_uis|level 42 37|from=1970 spread=0.3
trained_teachers_primary_pct|Trained teachers, primary|percent of teachers|unesco_uis|share 64 79|from=1998 spread=0.6
education_expenditure_pct_gdp|Government expenditure on education|percent of GDP|unesco_uis|share 3.6 3.9|from=1975 fiscal
education_expenditure_pct_budget|Government expenditure on education|percent of government expenditure|unesco_uis|share 17 16|from=1980 fiscal
mean_years_schooling|Mean years of schooling|years|undp_hdr|level 1.9 5.9|from=1990 modelled spread=0.4
expected_years_schooling|Expected years of schooling|years|undp_hdr|level 6.4 10.6|from=1990 modelled spread=0.2
human_development_index|Human development index|index, 0 to 1|undp_hdr|level 0.4 0.56|from=1990 modelled spread=0.15
gender_parity_primary_index|Gender parity, primary enrolment|ratio of girls to boys|unesco_uis|level 0.72 0.98|from=1970 spread=0.06
learning_poverty_pct|Learning poverty|percent of children aged 10|unesco_uis|share 88 84|from=2011 survey
school_electricity_pct|Primary schools with electricity|percent of schools|unesco_uis|share 20 38|nodata
`,
  agriculture: `
agricultural_land_pct|Agricultural land|percent of land area|fao_faostat|share 40 46|from=1961 stock
arable_land_pct|Arable land|percent of land area|fao_faostat|share 7 11|from=1961 stock
irrigated_land_pct|Irrigated land|percent of agricultural land|fao_aquastat|share 1 2|from=1961 zero=0.1 spread=0.8
cereal_yield_kg_per_ha|Cereal yield|kilograms per hectare|fao_faostat|level 810 1650|from=1961 spread=0.5
cereal_production_t|Cereal production|tonnes|fao_faostat|level 500000 2600000|from=1961 spread=0.95
maize_production_t|Maize production|tonnes|fao_faostat|level 150000 1300000|from=1961 spread=0.95 zero=0.06
rice_production_t|Rice production, paddy|tonnes|fao_faostat|level 60000 500000|from=1961 spread=0.95 zero=0.15
cassava_production_t|Cassava production|tonnes|fao_faostat|level 600000 4000000|from=1961 spread=0.95 zero=0.25
cocoa_production_t|Cocoa bean production|tonnes|fao_faostat|level 40000 180000|from=1961 spread=0.95 zero=0.65
cattle_stock_heads|Cattle, live animals|heads|fao_faostat|level 2100000 6400000|from=1961 stock spread=0.95
fish_catch_marine_t|Fish catch, marine waters|tonnes|fao_faostat|level 20000 110000|from=1950 marine spread=0.9
fertiliser_use_kg_per_ha|Fertiliser consumption|kilograms per hectare of arable land|fao_faostat|level 4 19|from=1961 spread=0.9
food_production_index|Food production|2014 to 2016 = 100|fao_faostat|level 28 113|from=1961 spread=0.1
employment_agriculture_pct|Employment in agriculture|percent of employment|ilo_ilostat|share 62 47|from=1991 modelled
maize_price_local_per_kg|Retail price of maize|local currency units per kilogram|wfp_food_prices|level 12 70|monthly from=2006 spread=0.9 cover=0.6
agricultural_exports_usd|Agricultural exports|US dollars|fao_faostat|money 6 4|from=1961
soil_organic_carbon_t_per_ha|Soil organic carbon|tonnes per hectare|fao_faostat|level 60 55|nodata
`,
  humanitarian: `
refugees_hosted_total|Refugees hosted|persons|unhcr_displacement_signals|people 0.1 0.5|from=1970 stock late zero=0.15 spread=0.9 cover=1
asylum_seekers_hosted_total|Asylum seekers hosted|persons|unhcr_displacement_signals|people 0.01 0.07|from=1990 stock late zero=0.25 spread=0.9 cover=1
idps_total|Internally displaced persons|persons|unhcr_displacement_signals iom_dtm|people 1 3|from=1990 stock until=2024 zero=0.6 spread=0.9 cover=1 places=so,et,ng,cd,sd,mz,bf placesFrom=2023-01
stateless_total|Stateless persons|persons|unhcr_displacement_signals|people 0.02 0.02|from=2004 stock late zero=0.7
refugees_originating_total|Refugees by country of origin|persons|unhcr_displacement_signals|people 0.3 1|from=1970 stock late
returnees_total|Refugees returned|persons|unhcr_displacement_signals|people 0.05 0.1|from=1990 zero=0.6
people_in_need_total|People in need of humanitarian assistance|persons|hdx_hapi|people 8 14|from=2012 projected cover=0.4
humanitarian_funding_required_usd|Humanitarian funding required|US dollars|hdx_hapi|money 1 3|from=2012 cover=0.4
humanitarian_funding_received_pct|Humanitarian funding received|percent of requirement|hdx_hapi|share 62 45|from=2012 cover=0.4
food_insecure_ipc3_total|People in crisis or worse (IPC 3 and above)|persons|ipc_food_security|people 6 12|quarterly from=2017 projected cover=0.5 places=so,ke,ss,cd placesFrom=2020-01
undernourishment_pct|Prevalence of undernourishment|percent of total population|fao_faostat|share 27 20|from=2001 modelled
conflict_events_total|Conflict events, month|events|acled_events|level 4 28|monthly from=1997 zero=0.35 spread=0.95
conflict_fatalities_total|Conflict fatalities, month|deaths|acled_events|level 6 40|monthly from=1997 zero=0.4 spread=0.95
peacekeepers_present_total|Peacekeepers present|persons|hdx_hapi|people 0.02 0.03|from=1990 stock zero=0.8
aid_workers_affected_total|Aid workers affected by violence|persons|hdx_hapi|people 0.00005 0.0001|from=1997 zero=0.4
`,
  governance: `
control_of_corruption_estimate|Control of corruption|standard deviations|world_bank_wgi|rate -0.6 0.6|from=1996 modelled
government_effectiveness_estimate|Government effectiveness|standard deviations|world_bank_wgi|rate -0.7 0.6|from=1996 modelled
political_stability_estimate|Political stability|standard deviations|world_bank_wgi|rate -0.6 0.8|from=1996 modelled
regulatory_quality_estimate|Regulatory quality|standard deviations|world_bank_wgi|rate -0.7 0.6|from=1996 modelled
rule_of_law_estimate|Rule of law|standard deviations|world_bank_wgi|rate -0.6 0.6|from=1996 modelled
voice_accountability_estimate|Voice and accountability|standard deviations|world_bank_wgi|rate -0.5 0.7|from=1996 modelled
corruption_perceptions_index|Corruption perceptions index|score, 0 to 100|transparency_cpi|share 30 34|from=2012 spread=0.4
overall_governance_score|Overall governance|score, 0 to 100|iiag_governance|share 46 49|from=2000 spread=0.4
press_freedom_score|Press freedom|score, 0 to 100|rsf_press_freedom|share 52 50|from=2002 spread=0.4
freedom_status_score|Freedom in the World, score|score, 0 to 100|freedom_house|share 42 40|from=2003 spread=0.7
electoral_democracy_index|Electoral democracy index|index, 0 to 1|vdem_institute|level 0.14 0.42|from=1960 modelled spread=0.4
women_in_parliament_pct|Seats held by women in national parliament|percent of seats|ipu_parline|share 8 26|from=1997 stock zero=0.04
voter_turnout_pct|Voter turnout|percent of registered voters|ipu_parline|share 64 62|from=1980 survey
trust_in_president_pct|Trust in the head of state|percent of adults|afrobarometer_rounds|share 58 48|from=2000 survey cover=0.6
homicide_rate_per_100000|Intentional homicides|per 100,000 people|world_bank_wdi|level 9 8|from=1995 survey spread=0.7
military_expenditure_pct_gdp|Military expenditure|percent of GDP|world_bank_wdi|share 2.4 1.7|from=1965 zero=0.06
birth_registration_pct|Completeness of birth registration|percent of children under five|unicef_data|share 40 56|from=2000 survey
statistical_performance_score|Statistical performance|score, 0 to 100|world_bank_wdi|share 44 56|from=2016 spread=0.4
judicial_independence_score|Judicial independence|score, 1 to 7|iiag_governance|level 3.4 3.6|nodata
`,
};

const METHODS = new Set(['official', 'projected', 'modelled', 'survey']);
const FREQUENCIES = new Set(['annual', 'quarterly', 'monthly', 'weekly', 'daily', 'ad_hoc']);

function indicatorOf(
  category: Category,
  row: Record<'key' | 'name' | 'unit' | 'sources' | 'shape' | 'options', string>,
): Indicator {
  const words = wordsOf(row.options);
  const flag = (name: string) => words.includes(name);
  const option = (name: string) => words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const [shape = '', start = '0', end = start] = wordsOf(row.shape);
  return {
    key: row.key,
    name: row.name,
    unit: row.unit,
    category,
    sources: wordsOf(row.sources),
    shape: shape as Shape,
    start: Number(start),
    end: Number(end),
    from: Number(option('from') ?? 1960),
    until: Number(option('until') ?? 2025),
    frequency: (words.find((word) => FREQUENCIES.has(word)) ?? 'annual') as Frequency,
    method: (words.find((word) => METHODS.has(word)) ?? 'official') as Method,
    stock: flag('stock'),
    late: flag('late'),
    fiscal: flag('fiscal'),
    cover: Number(option('cover') ?? 0.93),
    only: option('only')?.split(',') ?? null,
    places: option('places')?.split(',') ?? [],
    placesFrom: option('placesFrom') ?? '',
    zero: Number(option('zero') ?? 0),
    marine: flag('marine'),
    spread: Number(option('spread') ?? 0.25),
    hasData: !flag('nodata'),
  };
}

/** The catalogue of 207 measures, by category and then as listed. */
export const indicators: readonly Indicator[] = CATEGORIES.flatMap((category) =>
  rowsOf(['key', 'name', 'unit', 'sources', 'shape', 'options'], TABLES[category]).map((row) =>
    indicatorOf(category, row),
  ),
);

/** Measures by key. */
export const indicatorByKey: ReadonlyMap<string, Indicator> = new Map(indicators.map((i) => [i.key, i]));
