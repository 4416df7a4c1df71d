/// What an operator is told of a store that came to its server as a dump.
enum ForeignLog {
    /// A move loses nothing. An older backup has everything that was taken back since.
    static let remedy =
        "none after a move; for a backup stop all nodes and run `countersign store restore --in-place`"

    static let finding = Finding(
        .store, "another server wrote the change log, as if a dump of it was restored here",
        "after a move start the service, which begins the log anew; for a backup run "
            + "`countersign store restore --in-place` first")
}
