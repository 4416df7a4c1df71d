import Database
import Domain
import Repositories

/// One page of a list of streams: their ids, and the cursor of the next page.
struct StreamList {
    private let filter: MessageStreamFilter
    private let conditions: StreamListRepository.Filter
    private let user: UserID
    private let provider: ProviderID
    private let records: StreamListRepository

    /// - Parameter member: the user whom the filter names.
    init(
        _ service: Service, _ filter: MessageStreamFilter, _ caller: (user: UserID, provider: ProviderID),
        member: UserID?, in transaction: any Transaction
    ) {
        self.filter = filter
        (user, provider) = caller
        var conditions = StreamListRepository.Filter()
        (conditions.kind, conditions.member) = (filter.kind, member)
        let index = service.metadataIndex
        conditions.metadata = filter.metadata.map { index.sought($0, by: caller.user, at: caller.provider) }
        self.conditions = conditions
        records = StreamListRepository(transaction)
    }

    /// Streams that were read in the order of the list.
    struct Step {
        let found: [StreamListRepository.Found]
        let limit: Int

        /// The streams that fit, at most `size`, and where to continue; `nil` at the end.
        func taken(_ size: Int) -> (streams: [MessageStreamID], end: StreamListRepository.Mark?) {
            var streams: [MessageStreamID] = []
            for (index, one) in found.enumerated() where one.fits {
                streams.append(one.stream)
                if streams.count == size, index + 1 < found.count || found.count == limit { return (streams, one.mark) }
            }
            return (streams, found.count == limit ? found.last?.mark : nil)
        }
    }

    private var isFiltered: Bool {
        conditions.member != nil || !conditions.metadata.isEmpty || conditions.kind != nil && !filter.isOfForums
    }

    private func read(_ range: StreamListRepository.Range, size: Int) throws -> Step {
        let limit = isFiltered ? Service.MessageStreamPage.compared : size
        let found =
            filter.isOfForums
            ? try records.forums(of: provider, range, conditions, limit: limit)
            : try records.own(of: user, range, conditions, limit: limit)
        return Step(found: found, limit: limit)
    }

    /// The first step, which depends on the request only.
    func first(_ size: Int = Service.MessageStreamPage.size) throws -> Step {
        let range: StreamListRepository.Range =
            switch filter.cursor?.part {
            case nil: .before(nil)
            case .listed(let mark, _): .before(mark)
            case .changed(let mark): .after(mark)
            }
        return try read(range, size: size)
    }

    /// - Parameter size: the largest number of streams.
    func page(_ size: Int = Service.MessageStreamPage.size) throws -> (
        streams: [MessageStreamID], cursor: MessageStreamCursor?
    ) {
        let first = try first(size)
        let (streams, end) = first.taken(size)
        let isOfForums = filter.isOfForums
        func cursor(_ part: MessageStreamCursor.Part) -> MessageStreamCursor { .init(isOfForums: isOfForums, part) }
        switch filter.cursor?.part {
        case .changed: return (streams, end.map { cursor(.changed(after: $0)) })
        case nil:
            let anchor = first.found.first?.mark.number ?? 0
            return (streams, end.map { cursor(.listed(before: $0, anchor: anchor)) })
        case .listed(_, let anchor):
            if let end { return (streams, cursor(.listed(before: end, anchor: anchor))) }
            let margin = isOfForums ? Service.MessageStreamPage.margin : 0
            let start = StreamListRepository.Mark(number: max(0, anchor - margin))
            let room = size - streams.count
            guard room > 0 else { return (streams, cursor(.changed(after: start))) }
            let (changed, last) = try read(.after(start), size: room).taken(room)
            return (streams + changed, last.map { cursor(.changed(after: $0)) })
        }
    }
}
