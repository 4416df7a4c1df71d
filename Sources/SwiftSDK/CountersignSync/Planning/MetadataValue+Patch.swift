import CountersignClient

extension Streams.Visibility {
    /// The column of metadata with this visibility, in each table that has metadata.
    var column: String { self == .shared ? "metadata" : "private_metadata" }
}

extension MetadataValue {
    /// The patch that changes this object to another one, instead of a patch that the service may or may not have. So a
    /// change that the user takes back is also taken back at the service.
    func patch(to other: MetadataValue, replacing pending: MetadataValue?) -> MetadataValue {
        let direct = patch(to: other)
        guard let pending else { return direct }
        return pending.followed(by: direct).followed(by: merged(with: pending).patch(to: other))
    }

    /// A patch with the changes of this one, and then those of another one.
    private func followed(by patch: MetadataValue) -> MetadataValue {
        guard case .object(let first) = self, case .object(let second) = patch else { return patch }
        return .object(first.merging(second) { $0.followed(by: $1) })
    }
}
