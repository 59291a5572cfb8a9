import { makeExecutableSchema } from '@graphql-tools/schema';
import { GraphQLError, GraphQLScalarType, type GraphQLSchema } from 'graphql';

/** Types that the product's schema lacks: an archive that lends, for its own sake. */
const SDL = /* GraphQL */ `
  type Query {
    archive(id: ID! = "main", wish: Wish = { title: "any", ranges: [{ to: 3 }] }): Archive
    archives(first: Int = 3, tags: [String!]): [Archive!]
    surelyArchive: Archive!
    surelyArchives(depth: Int! = 2): [[Archive!]!]!
    piece(locale: Locale = EN): Piece
    pieces(wishes: [Wish!]! = [{ locale: FR }], at: [[Int]]): [Piece]!
    surelyPieces: [Piece!]!
    finds(even: Even, any: Any): [[Find!]]
    find(wish: Wish!): Find
    people: [Person]
    count(of: [ID!]): Int!
    ratio: Float
    locale(of: Locale! = SW): Locale!
    grid: [[Int]]
    cube(size: Float! = 1.5): [[[Float!]!]]!
  }

  interface Named {
    name: String!
    label(upper: Boolean = false, locale: Locale): String
  }

  interface Piece implements Named {
    id: ID!
    name: String!
    label(upper: Boolean = false, locale: Locale): String
    keeper: Person!
    notes: [[String!]!]
    kin: [Piece!]
  }

  type Book implements Named & Piece {
    id: ID!
    name: String!
    label(upper: Boolean = false, locale: Locale): String
    keeper: Person!
    notes: [[String!]!]
    kin: [Piece!]
    authors(first: Int! = 2): [Person!]!
    pages: Int!
    weight: Float
    isLent: Boolean!
    locales: [Locale!]!
    even: Even
    hollow: Hollow!
    stamp: Stamp!
    any: Any
  }

  type Chart implements Named & Piece {
    id: ID!
    name: String!
    label(upper: Boolean = false, locale: Locale): String
    keeper: Person!
    notes: [[String!]!]
    kin: [Piece!]
    scale: Float!
    grid(within: Range): [[Int!]]!
    shown: [[Find]!]
    even: Even!
    stamp: Stamp
    any: Any!
  }

  type Person implements Named {
    name: String!
    label(upper: Boolean = false, locale: Locale): String
    age: Int
    isAlive: Boolean
    speaks: Locale
    friends(first: Int = 2, wish: Wish): [Person!]!
    archive: Archive
    lent: [[Book!]!]!
    hollows: [Hollow]
    evens: [Even!]
  }

  type Archive {
    id: ID!
    name: String
    wealth: Float
    head: Person!
    deputy: Person
    pieces(within: Range = { to: 9 }): [Piece!]!
    best: Piece
    finds: [Find]
    newest: Find!
    rooms: [[Room!]!]!
    main: Room!
  }

  type Room {
    number: Int!
    isOpen: Boolean!
    archive: Archive!
    holds: [Find!]!
    next: Room
    inner: Room!
    stamps: [[Stamp]!]!
    any: Any
  }

  union Find = Book | Chart | Person
  union Place = Archive | Room

  extend type Archive {
    places: [Place]
  }

  extend type Room {
    within: Place!
  }

  enum Locale {
    EN
    FR
    SW
  }

  input Range {
    from: Int = 0
    to: Int!
    within: Range
  }

  input Wish {
    title: String
    ranges: [Range!]
    locale: Locale = EN
    even: Even
    places: [[ID!]]
  }

  "Refuses odd numbers."
  scalar Even
  "Has nothing to say of some values."
  scalar Hollow
  "Has a shortcut."
  scalar Stamp
  "Passes everything on."
  scalar Any
`;

export function createArchive(): GraphQLSchema {
  return makeExecutableSchema({
    typeDefs: SDL,
    resolvers: {
      Locale: { EN: 'en', FR: 2, SW: 'SW' },
      Even: new GraphQLScalarType({ name: 'Even', serialize: even }),
      Hollow: new GraphQLScalarType({
        name: 'Hollow',
        serialize: (value) => (typeof value === 'string' && value !== '' ? value : null),
      }),
      Stamp: new GraphQLScalarType({
        name: 'Stamp',
        serialize: (value) => (typeof value === 'string' ? value : { of: String(value) }),
        extensions: { shortcut: { test: "typeof v === 'string'", value: 'v' } },
      }),
      Any: new GraphQLScalarType({ name: 'Any', serialize: (value) => value }),
    },
  });
}

function even(value: unknown): number {
  if (typeof value === 'number' && value % 2 === 0) return value;
  if (typeof value === 'string') throw new TypeError(`A text is not even: ${value}.`);
  throw new GraphQLError('Odd.', { extensions: { code: 'ODD' } });
}
