import Foundation
import Testing

@testable import Domain

/// Every action × every situation: 11 actions, 4 kinds, 3 memberships, 3 partners and 4 yes-or-no facts.
@Suite("Who may do what to a stream of messages")
struct MessageStreamRuleTests {
    typealias Rule = MessageStreamRule

    private static let flags = [true, false]

    private static let situations: [Rule] = MessageStream.Kind.allCases.flatMap { kind in
        Rule.Membership.allCases.flatMap { membership in
            Rule.Partner.allCases.flatMap { partner in
                (0..<16).map { bits in
                    Rule(
                        kind: kind, isDeleted: bits & 1 > 0, membership: membership, isCreator: bits & 2 > 0,
                        isBanned: bits & 4 > 0, hasLevel: bits & 8 > 0, partner: partner)
                }
            }
        }
    }

    /// What a member in good standing gets who did not open the stream; in a forum, any user of the provider.
    private static let members: [MessageStream.Kind: [Rule.Action: Rule.Verdict]] = [
        .direct: [
            .append: .allowed, .read: .allowed, .acknowledge: .allowed, .addMember: .fixed, .removeMember: .fixed,
            .leave: .fixed, .changeMetadata: .allowed, .deleteOwnMessage: .allowed, .deleteOthersMessage: .unknown,
            .deleteCopy: .allowed, .deleteStream: .allowed,
        ],
        .call: [
            .append: .allowed, .read: .allowed, .acknowledge: .allowed, .addMember: .fixed, .removeMember: .fixed,
            .leave: .fixed, .changeMetadata: .allowed, .deleteOwnMessage: .allowed, .deleteOthersMessage: .unknown,
            .deleteCopy: .allowed, .deleteStream: .allowed,
        ],
        .conversation: [
            .append: .allowed, .read: .allowed, .acknowledge: .allowed, .addMember: .allowed,
            .removeMember: .allowed, .leave: .allowed, .changeMetadata: .allowed, .deleteOwnMessage: .allowed,
            .deleteOthersMessage: .unknown, .deleteCopy: .allowed, .deleteStream: .allowed,
        ],
        .forum: [
            .append: .allowed, .read: .allowed, .acknowledge: .fixed, .addMember: .fixed, .removeMember: .fixed,
            .leave: .fixed, .changeMetadata: .unknown, .deleteOwnMessage: .allowed, .deleteOthersMessage: .unknown,
            .deleteCopy: .fixed, .deleteStream: .unknown,
        ],
    ]
    /// What only who opened the stream may.
    private static let creators: [MessageStream.Kind: Set<Rule.Action>] = [
        .direct: [], .call: [], .conversation: [.deleteOthersMessage],
        .forum: [.changeMetadata, .deleteOthersMessage, .deleteStream],
    ]
    private static let writing: Set<Rule.Action> = [.append, .changeMetadata, .addMember, .removeMember]

    private static func isOthersConversation(_ rule: Rule) -> Bool { rule.kind == .conversation && !rule.isCreator }

    /// The decision in other words: reasons to refuse, the strongest first.
    private static func expected(_ rule: Rule, _ action: Rule.Action) -> Rule.Verdict? {
        let isForum = rule.kind == .forum
        if rule.isDeleted { return .unknown }
        if !isForum, rule.membership == .never { return .unknown }
        if !isForum, rule.membership == .former { return [.read, .deleteCopy].contains(action) ? .allowed : .left }
        var usual = members[rule.kind]?[action]
        if rule.isCreator, creators[rule.kind]?.contains(action) == true { usual = .allowed }
        guard usual == .allowed else { return usual }
        if writing.contains(action) || (isOthersConversation(rule) && action == .deleteStream) {
            if rule.isBanned { return .banned }
            if !rule.hasLevel { return .levelTooLow }
        }
        if [.direct, .call].contains(rule.kind), ![.deleteOwnMessage, .deleteCopy, .deleteStream].contains(action) {
            if rule.partner == .notPermitted { return .closed }
            if rule.partner == .notVerified, writing.contains(action) { return .partnerNotVerified }
        }
        return .allowed
    }

    @Test("is decided for every action in every situation", arguments: Rule.Action.allCases)
    func table(action: Rule.Action) {
        #expect(Self.situations.count == 576)
        for rule in Self.situations {
            #expect(rule.verdict(on: action) == Self.expected(rule, action), "\(action) \(rule)")
        }
    }

    @Test("gives a banned user, a stranger and a removed member nothing to write by, whatever else holds")
    func writers() {
        for rule in Self.situations where rule.isBanned || rule.membership != .current && rule.kind != .forum {
            for action in Self.writing { #expect(rule.verdict(on: action) != .allowed, "\(action) \(rule)") }
        }
    }

    @Test("makes each verdict possible, and each action allowed to somebody")
    func reachable() {
        var (verdicts, actions) = (Set<Rule.Verdict>(), Set<Rule.Action>())
        for action in Rule.Action.allCases {
            for rule in Self.situations {
                let verdict = rule.verdict(on: action)
                verdicts.insert(verdict)
                if verdict == .allowed { actions.insert(action) }
            }
        }
        #expect(verdicts == Set(Rule.Verdict.allCases))
        #expect(actions == Set(Rule.Action.allCases))
    }
}

@Suite("Receipts")
struct ReceiptTests {
    @Test("only rise, in whatever order reports come, and what is read is delivered")
    func order() {
        let reports: [(delivered: Int64?, read: Int64?)] = [(3, nil), (nil, 2), (1, 1), (9, nil), (nil, 4), (0, 0)]
        var ends: Set<[Int64]> = []
        for start in reports.indices {
            var member = StreamMember(streamID: MessageStreamID(UUID()), userID: UserID(UUID()), joinedAt: 0)
            for report in reports[start...] + reports[..<start] {
                let receipts = member.receipts(delivered: report.delivered, read: report.read, last: 5)
                #expect(receipts.delivered >= member.deliveredThrough && receipts.read >= member.readThrough)
                #expect(receipts.read <= receipts.delivered && receipts.delivered <= 5)
                (member.deliveredThrough, member.readThrough) = receipts
            }
            ends.insert([member.deliveredThrough, member.readThrough])
        }
        #expect(ends == [[5, 4]])
    }
}
