/** Operations to begin with, by subject. */
export const SAMPLES: readonly {
  readonly name: string;
  readonly samples: readonly { readonly name: string; readonly query: string; readonly variables?: string }[];
}[] = [
  {
    name: 'Compare countries',
    samples: [
      {
        name: 'Inflation of neighbours',
        query: `query InflationOfNeighbours($codes: [CountryCode!]) {
  countries(codes: $codes) {
    code
    name
    observations(metricKeys: ["inflation_cpi_annual_pct"], fromYear: 2000) {
      year
      value
      unit
    }
  }
}
`,
        variables: '{ "codes": ["KE", "UG", "TZ", "RW"] }',
      },
      {
        name: 'Rich and poor, side by side',
        query: `query RichAndPoor {
  countries {
    code
    name
    region
    perHead: observation(metricKey: "gdp_per_capita_current_usd") {
      value
      year
      unit
    }
  }
}
`,
      },
    ],
  },
  {
    name: 'One country in full',
    samples: [
      {
        name: 'Everything that is known of Kenya, latest',
        query: `query AllOfKenya {
  country(code: "KE") {
    code
    name
    observations(latest: true) {
      indicator {
        key
        name
      }
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
        name: 'Signals: rates, prices, alerts',
        query: `query SignalsOfKenya {
  country(code: "KE") {
    name
    signals {
      fxRates {
        baseCurrency
        quoteCurrency
        rate
        rateDate
      }
      commodityBenchmarks {
        commodityKey
        priceValue
        priceDate
      }
      disasterAlerts {
        name
        eventType
        alertLevel
      }
    }
  }
}
`,
      },
    ],
  },
  {
    name: 'The catalogue',
    samples: [
      {
        name: 'Indicators of a category',
        query: `query IndicatorsOfCategory($category: String) {
  indicators(category: $category, hasData: true) {
    key
    name
    unit
    sources {
      key
    }
  }
}
`,
        variables: '{ "category": "demographics" }',
      },
      {
        name: 'Sources, and when they were refreshed',
        query: `query SourcesAndRefreshes {
  sources {
    key
    lastSuccessfulRefresh
    nextRun
  }
}
`,
      },
    ],
  },
  {
    name: 'Your key',
    samples: [
      {
        name: 'What is left of my plan',
        query: `query WhatIsLeft {
  quota {
    plan
    requestsPerMinute
    callsThisMinute
    minuteResetsAt
    monthlyRequests
    callsThisMonth
    monthResetsAt
    state
  }
}
`,
      },
    ],
  },
];
