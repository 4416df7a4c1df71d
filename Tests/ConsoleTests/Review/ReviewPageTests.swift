import Domain
import Foundation
import Testing

@testable import Console
@testable import Operations

@Suite("The pages of card review")
struct ReviewPageTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let id = IdentityCardID(UUID())

    private static func facts(
        name: String = "ANN SAMPLE", born: String = "1986-06-16", street: String = "1 ELM STREET",
        number: String = "T1234567"
    ) throws -> CardFacts {
        let text = """
            {"source":"aamva","kind":"licence","given_name":\(quoted(name)),"date_of_birth":"\(born)",\
            "street":\(quoted(street)),"last_four":"4567","document_number":\(quoted(number)),\
            "jurisdiction":"VA","country":"USA","expires_on":"2032-12-10"}
            """
        return try #require(CardFacts(jsonText: text))
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
    }

    private static func form() -> Form {
        Form(to: PagePath("/review/x/accept"), token: "t", operationID: "o", [], submit: "Accept")
    }

    /// A card whose page has every text.
    private static func page(
        _ text: String, status: CardStatus = .inReview, level: Assurance = .phone, decidedBy: String? = nil,
        forms: ReviewCardPage.Forms = .init(), linksUsers: Bool = true, isErased: Bool = false
    ) throws -> Page {
        let failed = CardCheck(.samePerson, .failed, text)
        let facts = try facts(name: text, street: text, number: text)
        let earlier: Administration.EarlierCard = (
            id: IdentityCardID(UUID()), status: .rejected, submittedAt: now - 90, decidedAt: now, failed: [failed]
        )
        let summary: Administration.CardSummary = (
            id: id, userID: UserID(UUID()), status: status, submittedAt: now - 7200, gives: .barcode, level: level,
            former: facts, earlier: [earlier], decision: nil, decidedBy: decidedBy, isOwn: false
        )
        return ReviewCardPage(
            summary: summary, facts: isErased ? nil : facts, checks: [failed, CardCheck(.issuer, .passed, text)],
            reason: text, account: text, accountName: text,
            others: [.init(userID: UserID(UUID()), account: text, shared: .document)], forms: forms, now: now,
            linksUsers: linksUsers
        ).page
    }

    @Test("show every text as it is, whatever it contains", arguments: Texts.hostile + [Texts.rightToLeft, Texts.long])
    func texts(text: String) throws {
        let forms = ReviewCardPage.Forms(accept: Self.form(), reject: nil, undo: nil, undoLast: Self.form())
        let plain = try Self.page(Texts.plain, decidedBy: Texts.plain, forms: forms)
        let page = try Self.page(text, decidedBy: text, forms: forms)
        #expect(PageShape(page) == PageShape(plain))
        func queue(_ text: String) -> Page {
            let waiting: [Administration.WaitingCard] = [
                (id: Self.id, userID: UserID(UUID()), submittedAt: Self.now, failed: [CardCheck(.name, .failed, text)])
            ]
            return ReviewQueuePage(waiting: waiting, cursor: nil, now: Self.now, undo: Self.form()).page
        }
        #expect(PageShape(queue(text)) == PageShape(queue(Texts.plain)))
    }

    @Test("say that nothing waits, and that a user was erased")
    func empty() throws {
        let queue = ReviewQueuePage(waiting: [], cursor: nil, now: Self.now, undo: nil).page
        #expect(queue.text.contains("No card waits for a reviewer.") && !queue.text.contains("<table>"))
        #expect(!queue.text.contains("rel=\"next\"") && !queue.text.contains("<form"))
        let erased = try Self.page(Texts.plain, isErased: true)
        #expect(erased.text.contains("Nothing is left to decide.") && !erased.text.contains("On this card"))
    }

    @Test("list fifty cards with the failed checks in words, and lead to the next ones and to the oldest")
    func queue() throws {
        let waiting: [Administration.WaitingCard] = (0...50).map { number in
            (
                id: IdentityCardID(UUID()), userID: UserID(UUID()), submittedAt: Self.now - 3 * 3600 - Double(number),
                failed: [CardCheck(.uniqueness, .failed, "Another user of the app has shown this document.")]
            )
        }
        let page = ReviewQueuePage(waiting: waiting, cursor: nil, now: Self.now, undo: nil).page
        #expect(page.text.ranges(of: "<th scope=\"row\">").count == 50)
        #expect(page.text.contains("/review?after=\(waiting[49].id)") && !page.text.contains("First page"))
        #expect(page.text.contains("Another user of the app has shown this document."))
        #expect(page.text.contains(">3 hours ago<") && page.text.contains("/review/\(waiting[0].id)\""))
        #expect(!page.text.contains("\(waiting[50].id)"))
    }

    @Test("say what an acceptance does, and offer only what is possible")
    func decision() throws {
        let open = try Self.page(Texts.plain, forms: .init(accept: Self.form(), reject: Self.form()))
        #expect(open.text.contains("The level of the user changes from phone to barcode."))
        let same = try Self.page(Texts.plain, level: .barcode, forms: .init(accept: Self.form()))
        #expect(same.text.contains("The level of the user stays barcode."))
        #expect(open.text.contains("all permissions and requests of the user end"))
        #expect(open.text.contains("/review/\(Self.id)/next"))
        #expect(open.text.ranges(of: "<form ").count == 2)
        let decided = try Self.page(Texts.plain, status: .rejected, decidedBy: "administrator ben, role reviewer")
        #expect(decided.text.contains("<dt>Decision</dt><dd><bdi>rejected</bdi></dd>"))
        #expect(decided.text.contains("administrator ben, role reviewer") && !decided.text.contains("<form"))
        // A reviewer may not open the pages of users.
        let reviewer = try Self.page(Texts.plain, linksUsers: false)
        #expect(!reviewer.text.contains("href=\"/users/"))
    }

    @Test("describe differences in words")
    func words() throws {
        func names(_ card: String, _ known: String) -> String {
            CardComparison.words(card, known, "in the account")
        }
        #expect(names("ANN-MARIE LEE", "Ann Marie Lee") == "Same.")
        #expect(names("RENEE SAMPLE", "Renée Sample") == "Same.")
        #expect(names("SAMPLE ANN", "Ann Sample") == "The same words, in another order or number.")
        #expect(names("ANN MARIE SAMPLE", "Ann Sample") == "Only on this card: MARIE.")
        #expect(names("ANN SAMPLE", "Ann Marie Sample") == "Only in the account: Marie.")
        #expect(names("ANN LEE", "Ann Sample") == "Only on this card: LEE. Only in the account: Sample.")
        #expect(
            names("MARTHA LEE", "Ann Sample")
                == "No word in common. Only on this card: MARTHA LEE. Only in the account: Ann Sample.")
        func dates(_ card: String, _ known: String) throws -> String {
            CardComparison.dates(try #require(CalendarDate(card)), try #require(CalendarDate(known)))
        }
        #expect(try dates("1986-06-07", "1986-06-07") == "Same.")
        #expect(try dates("1986-06-07", "1986-07-06") == "Day and month are exchanged.")
        #expect(try dates("1986-06-07", "1987-06-08") == "Another year and day.")
    }

    @Test("compare with what is known: the account's name, and the former card if there is one")
    func comparison() throws {
        let card = try Self.facts()
        func difference(_ fact: String, _ name: String?, _ former: CardFacts?) -> String? {
            CardComparison(card, accountName: name, former: former).lines.first { $0.fact == fact }?.difference
        }
        #expect(difference("Name, in the account", nil, nil) == "The account has no name.")
        #expect(difference("Name, on the former card", "Ann", nil) == nil)
        #expect(difference("Date of birth", "Ann", nil) == "Not known before.")
        let former = try Self.facts(name: "ANN LEE", born: "1986-06-17", street: "2 ELM STREET", number: "T7654321")
        #expect(difference("Date of birth", "Ann", former) == "Another day.")
        #expect(difference("Address", "Ann", former) == "Only on this card: 1. Only on the former card: 2.")
        #expect(difference("Document number", "Ann", former) == "Another one.")
        #expect(difference("Issuer", "Ann", former) == "Same.")
        let archived = former.without([.documentNumber, .postalAddress], keeping: [])
        #expect(
            difference("Document number", "Ann", archived)
                == "The last characters are the same. The rest is no longer stored.")
        #expect(difference("Address", "Ann", archived) == "Only on this card.")
    }
}
