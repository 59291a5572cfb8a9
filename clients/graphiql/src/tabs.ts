/** The operations that a newcomer finds in the tabs, one lesson each. */
export const LESSONS: readonly {
  readonly name: string;
  readonly about: string;
  readonly query: string;
}[] = [
  {
    name: 'Country',
    about: "A country's card: ten fields, one call",
    query: `# Run with Ctrl-Enter, complete with Ctrl-Space.
# The other tabs go on from here.
#
# A country's card: ten fields. However many you add,
# their figures travel in one call. Cost shows what it
# took, and Picture draws what can be drawn.
query CountryCard {
  country(code: "KE") {
    name
    capital
    region
    population: observation(metricKey: "population_total") {
      value
      year
      unit
    }
    gdp: observation(metricKey: "gdp_current_usd") {
      value
      year
      unit
    }
    lifeExpectancy: observation(metricKey: "life_expectancy") {
      value
      year
      unit
    }
  }
}
`,
  },
  {
    name: 'Map',
    about: 'One indicator over all countries',
    query: `# One indicator over all countries: 54 figures, two calls
# (the list, and all figures). Picture draws a map.
# Countries without a figure are hatched: no row is no
# zero.
query AllCountries {
  countries {
    code
    name
    observation(metricKey: "life_expectancy") {
      value
      year
      unit
      source {
        key
      }
    }
  }
}
`,
  },
  {
    name: 'Over time',
    about: 'Three countries over thirty years',
    query: `# A comparison over time. Lines break where a year is
# missing; modelled figures are drawn hollow, with the
# provider's bounds as a band where there are any.
query OverTime(
  $codes: [CountryCode!] = ["KE", "NG", "GH"]
) {
  countries(codes: $codes) {
    code
    name
    observations(metricKeys: ["life_expectancy"], fromYear: 1990) {
      year
      value
      unit
      isModelled
      estimateLow
      estimateHigh
      source {
        key
      }
    }
  }
}
`,
  },
  {
    name: 'Provenance',
    about: 'Where a figure comes from, and how sure it is',
    query: `# Where a figure comes from: reported or modelled, its
# bounds, its source, when the platform retrieved it, and
# how fresh it is here.
query Provenance {
  indicator(key: "population_total") {
    name
    unit
    sources {
      key
      lastSuccessfulRefresh
    }
    observations(countryCodes: ["NG", "ET", "EG"], latest: true) {
      country {
        code
        name
      }
      value
      year
      valueStatus
      isModelled
      estimateLow
      estimateHigh
      datasetVersion
      retrievedAt
      freshness {
        fetchedAt
        stale
      }
    }
  }
}
`,
  },
  {
    name: 'Markets',
    about: 'Listings of an exchange',
    query: `# Listings of one exchange, and a figure of the country
# that each belongs to: still one call for all figures.
query Markets {
  tickers(exchangeCode: "NGX", instrumentType: "EQUITY") {
    symbol
    name
    sector
    closePrice
    changePercent
    session
    country {
      code
      inflation: observation(metricKey: "inflation_cpi_latest_yoy_pct") {
        value
        period
      }
    }
  }
}
`,
  },
  {
    name: 'Government',
    about: 'Offices, and who held them',
    query: `# Offices of a country, and who has held them.
query Government {
  country(code: "GH") {
    name
    offices {
      name
      roleType
      terms {
        holder
        startDate
        endDate
        status
      }
    }
  }
}
`,
  },
  {
    name: 'Errors',
    about: 'What goes wrong, and what to do about it',
    query: `# What goes wrong stays where it went wrong, with a code.
# Here a year range makes no sense, the key of an
# indicator has a blank, and a country does not exist
# (null, and no error). Errors says what to do.
query Errors {
  backwards: observations(countryCodes: ["KE"], metricKeys: ["life_expectancy"], fromYear: 2020, toYear: 2010) {
    value
  }
  blank: country(code: "KE") {
    observation(metricKey: "no such key") {
      value
    }
  }
  nowhere: country(code: "ZZ") {
    name
  }
  well: country(code: "KE") {
    name
  }
}
`,
  },
  {
    name: 'Cost',
    about: 'What an operation costs, before and after',
    query: `# What an operation costs. Three figures of 54 countries
# would be 163 calls if each field fetched for itself. Run
# it: two calls. Run it again: none. "Explain", under Cost,
# prices it without running it.
query Cost {
  countries {
    name
    population: observation(metricKey: "population_total") {
      value
    }
    gdp: observation(metricKey: "gdp_current_usd") {
      value
    }
    life: observation(metricKey: "life_expectancy") {
      value
    }
  }
  quota {
    plan
    callsThisMinute
    callsThisMonth
    state
  }
}
`,
  },
  {
    name: 'Limits',
    about: 'What a plan allows, and what happens beyond',
    query: `# A plan allows so many calls a minute. Choose the demo key
# "free" above, which has five, and run this: it takes four.
# Run it again: none, since all of it is held. Then change
# the countries. The sixth call is not sent: Errors says
# when it may be, and Cost counts what is spent.
query Limits {
  countries(codes: ["KE", "NG", "GH"]) {
    name
    offices {
      name
    }
  }
  quota {
    plan
    requestsPerMinute
    callsThisMinute
    minuteResetsAt
    state
  }
}
`,
  },
];
