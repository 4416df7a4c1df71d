import CPostgreSQL
import Foundation

/// The address of a PostgreSQL database, as a connection URI of libpq (PostgreSQL, 34.1.1.2). It may contain a password
/// and therefore prints only its scheme. `PGPASSFILE` is a better place for the password.
package struct PostgreSQLAddress: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let uri: String
    /// The numbers of connections in the address: `read_connections`, `write_connections`,
    /// `administration_connections`, `console_connections`.
    let lanes: LaneSizes

    /// Parses `postgresql://user@host:5432,other:5432/name?sslmode=verify-full` and the like, in at most 4,096 bytes.
    ///
    /// - Throws: `StoreError.url` if libpq cannot parse it.
    package init(_ uri: String) throws {
        guard ["postgresql://", "postgres://"].contains(where: uri.hasPrefix), uri.utf8.count <= 4096,
            !uri.utf8.contains(0)
        else { throw StoreError.url(reason: "postgresql: must be followed by //HOST/DATABASE") }
        let (lanes, uri) = try LaneSizes.take(from: uri)
        guard let options = PQconninfoParse(uri, nil) else {
            // libpq's own message would repeat the address, including the password (Upstream.md).
            throw StoreError.url(reason: "the address that begins with postgresql: cannot be parsed by libpq")
        }
        defer { PQconninfoFree(options) }
        // If a password contains an unencoded slash or at sign, its rest is parsed as a port, a host or a name.
        for (keyword, value) in Self.values(of: options) {
            let isPart = keyword == "port" ? value.allSatisfy { $0.isNumber || $0 == "," } : !value.contains("@")
            guard isPart else {
                throw StoreError.url(
                    reason: "the \(keyword) after postgresql: is not valid: percent-encode the password")
            }
        }
        (self.uri, self.lanes) = (uri, lanes)
    }

    /// Hosts and database without account, password and settings.
    var place: String {
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
        // A socket's directory cannot precede the path of a URI.
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

    /// The complete URI, for libpq.
    func reveal() -> String { uri }
}

package extension PostgreSQLAddress {
    var description: String { "postgresql://••••" }
    var debugDescription: String { description }
    /// A mirror without children, so that `dump` shows nothing.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
