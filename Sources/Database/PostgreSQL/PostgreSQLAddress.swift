import CPostgreSQL
import Foundation

/// Where a PostgreSQL server and a database on it are, as a connection URI of libpq (PostgreSQL, 34.1.1.2). It may hold
/// a password and therefore prints as its scheme alone; better, libpq finds it in `PGPASSFILE`.
package struct PostgreSQLAddress: Sendable, Equatable {
    private let uri: String
    /// How many connections the address asks for: `read_connections`, `write_connections`, `administration_connections`.
    let lanes: LaneSizes

    /// Reads `postgresql://user@host:5432,other:5432/name?sslmode=verify-full` and the like, in at most 4,096 bytes.
    ///
    /// - Throws: `StoreError.url` for what libpq does not understand.
    package init(_ uri: String) throws {
        guard ["postgresql://", "postgres://"].contains(where: uri.hasPrefix), uri.utf8.count <= 4096,
            !uri.utf8.contains(0)
        else { throw StoreError.url(reason: "postgresql: is followed by //HOST/DATABASE") }
        let (lanes, uri) = try LaneSizes.take(from: uri)
        guard let options = PQconninfoParse(uri, nil) else {
            // libpq's own sentence would repeat the address, password included (Upstream.md).
            throw StoreError.url(reason: "the address that begins with postgresql: is not one that libpq understands")
        }
        defer { PQconninfoFree(options) }
        // A password that holds a slash or an at sign as it is makes of its rest a port, a host or a name.
        for (keyword, value) in Self.values(of: options) {
            let isPart = keyword == "port" ? value.allSatisfy { $0.isNumber || $0 == "," } : !value.contains("@")
            guard isPart else {
                throw StoreError.url(
                    reason: "the \(keyword) behind postgresql: is none: percent-encode what the password holds")
            }
        }
        (self.uri, self.lanes) = (uri, lanes)
    }

    /// Hosts and database alone, without account, password and settings.
    package var place: String {
        guard let options = PQconninfoParse(uri, nil) else { return description }
        defer { PQconninfoFree(options) }
        var (values, option) = ([String: String](), options)
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        let hosts = (values["host"] ?? values["hostaddr"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let ports = (values["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let name = values["dbname"] ?? values["user"] ?? ""
        // A socket's directory has no place in front of the path.
        if hosts.contains(where: { $0.hasPrefix("/") }) {
            return "postgresql:///\(name)?host=\(hosts.joined(separator: ","))"
        }
        let authorities = hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : ports.indices.contains(index) ? ports[index] : ""
            return (host.contains(":") ? "[\(host)]" : host) + (port.isEmpty ? "" : ":\(port)")
        }
        return "postgresql://\(authorities.joined(separator: ","))/\(name)"
    }

    private static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [(String, String)] {
        var (found, next) = ([(String, String)](), options)
        while let keyword = next.pointee.keyword {
            let name = String(cString: keyword)
            if ["host", "hostaddr", "port", "dbname"].contains(name), let value = next.pointee.val {
                found.append((name, String(cString: value)))
            }
            next += 1
        }
        return found
    }

    /// The URI itself, for libpq.
    func reveal() -> String { uri }
}

extension PostgreSQLAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "postgresql://••••" }
    package var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows nothing.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
