import Foundation
import Testing

@testable import CountersignClient

@Suite("An address book on the device")
struct AddressBookTests {
    private static func person(
        _ first: String, _ last: String, _ addresses: Person.Address..., birthday: String? = nil
    ) -> Person {
        Person(firstName: first, lastName: last, addresses: addresses, birthday: birthday)
    }

    private static func likely(_ one: Person, _ other: Person) -> Double {
        AddressBook.deduplicate(existing: [one], new: [other]).first?.probability ?? 0
    }

    @Test("knows what is equal in everything at once, however it is written, and keeps what was there")
    func perfect() {
        let old = Self.person("José", "Garcia", .init(.phone, "+1 (415) 555-2671"), .init(.email, "Jose@Example.com"))
        let new = Self.person("jose", " garcía ", .init(.email, "jose@example.com"), .init(.phone, "+14155552671"))
        #expect(
            AddressBook.deduplicate(existing: [old], new: [new])
                == [PersonMatch(kept: old.id, duplicate: new.id, probability: 1)])
        var book = AddressBook()
        #expect(book.add([old]).isEmpty)
        #expect(book.add([new]).count == 1)
        #expect(book.people == [old])
    }

    @Test("puts what is equal before what sounds alike, and a shared address with a name before a name alone")
    func order() {
        let number = Person.Address(.phone, "+14155552671")
        let catherine = Self.person("Catherine", "Smith", number)
        let equal = Self.likely(catherine, Self.person("Catherine", "Smith", number))
        let sounds = Self.likely(catherine, Self.person("Katherine", "Smyth", number))
        let named = Self.likely(catherine, Self.person("Catherine", "Smith"))
        let fuzzy = Self.likely(catherine, Self.person("Katherine", "Smyth"))
        let shared = Self.likely(catherine, Self.person("Robert", "Jones", number))
        #expect(equal == 1 && equal > sounds && sounds > named && named > fuzzy && fuzzy > 0)
        #expect(shared > 0 && shared < sounds)
        #expect(Self.likely(catherine, Self.person("Robert", "Jones")) == 0)
        // Equal keeps out, and likely does not: the user decides.
        var book = AddressBook()
        book.add([catherine])
        #expect(book.add([Self.person("Katherine", "Smyth", number)]).count == 1)
        #expect(book.people.count == 2)
    }

    @Test("takes people with two birthdays for two, whatever else they share")
    func birthdays() {
        let number = Person.Address(.phone, "+14155552671")
        let (one, other) = (
            Self.person("Ann", "Lee", number, birthday: "1986-06-06"),
            Self.person("Ann", "Lee", number, birthday: "1987-06-06")
        )
        #expect(Self.likely(one, other) == 0)
        #expect(Self.likely(one, Self.person("Ann", "Lee", number)) > 0.9)
    }

    @Test("finds duplicates within what is new, each once")
    func within() {
        let people = (0..<3).map { _ in Self.person("Ann", "Lee", .init(.email, "ann@example.com")) }
        let matches = AddressBook.deduplicate(existing: [], new: people)
        #expect(matches.map(\.kept) == [people[0].id, people[0].id])
        #expect(matches.map(\.duplicate) == [people[1].id, people[2].id])
        #expect(AddressBook.deduplicate(existing: [], new: [Person(), Person()]).isEmpty)
    }

    @Test("resolves an address to its person; who has verified it has it")
    func resolve() {
        var book = AddressBook()
        let ann = Self.person("Ann", "Lee", .init(.email, "ann@example.com"), .init(.system, "acme/ann"))
        let bob = Self.person("Bob", "Ray", .init(.email, "ANN@example.com", isVerified: true))
        book.add([ann])
        #expect(book.resolve(.init(.email, "Ann@Example.com")) == ann.id)
        book.add([bob])
        #expect(book.resolve(.init(.email, "ann@example.com")) == bob.id)
        #expect(book.resolve(.init(.system, "acme/ann")) == ann.id)
        #expect(book.resolve(.init(.system, "acme/Ann")) == nil && book.resolve(.init(.phone, "acme/ann")) == nil)
    }

    @Test("compares ten thousand people of one family name without comparing each with all")
    func many() {
        let people = (0..<10_000).map { Self.person("Person \($0)", "Smith", .init(.email, "\($0)@example.com")) }
        let again = AddressBook.deduplicate(
            existing: people,
            new: [people[9_999]].map {
                Self.person($0.firstName, $0.lastName, .init(.email, "9999@example.com"))
            })
        #expect(again.map(\.kept) == [people[9_999].id] && again.first?.probability == 1)
    }
}

@Suite("The sound of a name")
struct MetaphoneTests {
    /// As jellyfish 1.2.0 (PyPI) has them.
    private static let judged = """
        Knight NT, Thompson 0MPSN, Wright RT, Philip FLP, Xavier SFR, Catherine K0RN, Katherine K0RN, Stephen STFN,
        Steven STFN, Smith SM0, Smyth SM0, Bomb BM, Judge JJ, Nation NXN, Michael MXL, Whitney WTN, Johnson JNSN,
        Garcia KRX, Davis TFS, Rodriguez RTRKS, Martinez MRTNS, Gonzalez KNSLS, Wilson WLSN, Anderson ANTRSN,
        Thomas 0MS, Jackson JKSN, Lee L, White WT, Sanchez SNXS, Clark KLRK, Young YNK, Scott SKT, Nguyen NKYN,
        Adams ATMS, Campbell KMPBL, Mitchell MXL, Phillips FLPS, Evans EFNS, Edwards ETWRTS, Murphy MRF, Rogers RJRS,
        Howard HWRT, Cox KKS, Richardson RXRTSN, Geoffrey JFR, Jeffrey JFR, Sean SN, Shaun XN, Cynthia SN0,
        Bridget BRJT, Matthew M0, Anthony AN0N, Joshua JX, Elizabeth ELSB0, Quentin KNTN, Jacqueline JKKLN,
        Nicholas NXLS, Alicia ALX
        """

    @Test("is what an independent implementation says")
    func vectors() {
        let pairs = Self.judged.split(whereSeparator: { $0 == "," || $0 == "\n" }).map { $0.split(separator: " ") }
        #expect(pairs.count == 58)
        for pair in pairs where pair.count == 2 { #expect(Metaphone.code(String(pair[0])) == pair[1], "\(pair)") }
    }

    @Test("leaves out accents, signs and other scripts")
    func foreign() {
        #expect(Metaphone.code("Renée") == Metaphone.code("Renee") && Metaphone.code("O'Brien") == "OBRN")
        for name in ["", " ", "Иван", "王", "🙂", "\u{301}"] { #expect(Metaphone.code(name) == "", "\(name)") }
    }
}
