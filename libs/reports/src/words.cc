#include "words.h"

#include <array>
#include <utility>

namespace tidewatt::reports {
namespace {

constexpr Words kEnglish{
    .code = "en",
    .title = "Energy and carbon {}, by {}",
    .scope_cluster = "cluster",
    .scope_node = "node",
    .scope_team = "team",
    .scope_group = "task group",
    .scope_task = "task",
    .total = "total",
    .unattributed = "unattributed (in no line)",
    .unknown_title = "Not known",
    .figures = "Figures",
    .notes = "Notes",
    .energy = "Energy",
    .carbon = "Carbon by two methods, never added",
    .beside = "Beside it",
    .money = "Money",
    .stated = "{}{} ({})",
    .no_source = "no source stated",
    .no_year = "not stated",
    .colon = ": ",
    .comma = ", ",
    .full_stop = ".",
    .period = "Period",
    .whole_hours = "{} to {}, whole UTC hours",
    .annual_factor = "Annual factor",
    .zone_factor = "Annual factor {}",
    .factor_text = "{} {} · {} · year {} · kind {} · boundary {}",
    .series = "Hourly series {}",
    .series_text = "{}; {} of {} hours known{}",
    .not_scope_2 = "; not for Scope 2",
    .contracts = "Contracts",
    .kwh_a_month = "kWh a month",
    .residual = "Residual mix",
    .upstream = "Upstream (life cycle − direct)",
    .losses = "Grid losses",
    .pue = "PUE",
    .pue_text = "{}, on the energy of {}",
    .pue_metered = "{} metered, over {} of {} hours",
    .pue_sums = " (site {} kWh, machines {} kWh)",
    .components = "components ({})",
    .platform = "whole machines",
    .embodied = "Embodied",
    .kg_a_device = "kg a device",
    .life = ", over {} h of life",
    .tariff = "Tariff",
    .carbon_price = "Internal carbon price",
    .cue = "CUE",
    .cue_annual = "annual factor",
    .cue_hourly = "hourly signal",
    .wue = "WUE",
    .per_it_kwh = "of IT energy",
    .litres_a_month = "L a month",
    .battery = "Battery",
    .battery_text =
        "{} kWh, {} kW, round trip {}; clean share {} without it, {} with it; delivered {} kWh, cost {} {}",
    .sealed = "Sealed {}",
    .sealed_text = "{}, {} rows, SHA-256 {}",
    .being_made = "being made",
    .simulated = "SIMULATED: this report counts simulated energy. It is worth no claim.",
    .simulated_left_out = "{} kWh of simulated energy are left out.",
    .placeholder =
        "Placeholder factor, not authoritative, not for publication: no emission factor is configured.",
    .hidden = "Carbon is hidden: no emission factor is configured. Energy isn't affected.",
    .factor_year = "The factor is of {}, the period is of {}.",
    .coverage = "{} of the time is covered: real energy is higher than shown.",
    .no_intensity = "{} hours with {} kWh have no known intensity; they are in no hourly figure.",
    .not_sealed = "Not sealed: these figures may still change.",
    .adjusted =
        "{} kWh came after the seal, for {} hours: {} kg by factor, {} kg by hour. They are in no other "
        "figure.",
    .moved =
        "Savings are of {} moved tasks ({} of them without a figure), against the baseline that was recorded "
        "when they "
        "were moved: the same metered energy, hour by hour, from when each would have started at once. They "
        "are in no "
        "other figure.",
    .shared = "{} kWh are estimated shares of shared devices.",
    .never_added =
        "The two methods stand beside each other and are never added. Marginal intensities are in none.",
    .dash = "“—”",
    .c_kwh = "kWh",
    .c_coverage = "coverage",
    .c_shared = "shared kWh",
    .c_adjustments = "adjustments kWh",
    .c_annual = "annual factor kg",
    .c_hourly = "hourly signal kg",
    .c_carbon_coverage = "carbon coverage",
    .c_used = "g/kWh used",
    .c_mean = "g/kWh time mean",
    .c_s2_annual = "Scope 2 location, annual kg",
    .c_s2_hourly = "Scope 2 location, hourly kg",
    .c_s2_market = "Scope 2 market kg",
    .c_saved_average = "saved kg, attributional",
    .c_saved_marginal = "saved kg, consequential",
    .c_upstream = "Scope 3.3 upstream kg",
    .c_losses = "Scope 3.3 losses kg",
    .c_overhead_kwh = "overhead (PUE) kWh",
    .c_overhead_kg = "overhead kg",
    .c_embodied = "embodied kg",
    .c_sci = "SCI g per device-hour",
    .c_sci_token = "SCI g per token",
    .c_cfe = "24/7 CFE",
    .c_cost = "energy {}",
    .c_peak = "peak kW (hourly mean)",
    .c_demand = "demand {}",
    .c_carbon_cost = "carbon EUR",
    .f_days = "Energy by day, kWh (UTC). Hatched: no data.",
    .f_days_name = "Energy by day",
    .f_intensity = "Intensity of the hours in which energy was used, g/kWh (UTC). Hatched: no data.",
    .f_cfe = "Hourly matching with clean energy (24/7 CFE), UTC. Hatched: no data."};

constexpr Words kChinese{
    .code = "zh-CN",
    .title = "{} 能耗与碳排放报告（按{}）",
    .scope_cluster = "集群",
    .scope_node = "节点",
    .scope_team = "团队",
    .scope_group = "任务组",
    .scope_task = "任务",
    .total = "合计",
    .unattributed = "未归属（不在任何行中）",
    .unknown_title = "未知项",
    .figures = "图表",
    .notes = "说明",
    .energy = "能耗",
    .carbon = "碳排放：两种方法并列，从不相加",
    .beside = "其他排放项",
    .money = "费用",
    .stated = "{}{}（{}）",
    .no_source = "未说明来源",
    .no_year = "未说明",
    .colon = "：",
    .comma = "、",
    .full_stop = "。",
    .period = "周期",
    .whole_hours = "{} 至 {}，按 UTC 整点小时",
    .annual_factor = "年度因子",
    .zone_factor = "年度因子 {}",
    .factor_text = "{} {} · {} · 年份 {} · 类型 {} · 边界 {}",
    .series = "逐时序列 {}",
    .series_text = "{}；已知 {} / {} 小时{}",
    .not_scope_2 = "；不可用于范围二",
    .contracts = "购电合同",
    .kwh_a_month = "kWh/月",
    .residual = "剩余组合因子",
    .upstream = "上游（全生命周期 − 直接）",
    .losses = "线损",
    .pue = "PUE",
    .pue_text = "{}，以{}的能耗为基数",
    .pue_metered = "{}（实测，{}/{} 小时）",
    .pue_sums = "，设施 {} kWh，机器 {} kWh",
    .components = "部件（{}）",
    .platform = "整机",
    .embodied = "隐含碳",
    .kg_a_device = "kg/台",
    .life = "，按寿命 {} 小时分摊",
    .tariff = "电价",
    .carbon_price = "内部碳价",
    .cue = "CUE",
    .cue_annual = "年度因子",
    .cue_hourly = "逐时信号",
    .wue = "WUE",
    .per_it_kwh = "IT 能耗",
    .litres_a_month = "L/月",
    .battery = "储能",
    .battery_text = "{} kWh，{} kW，往返效率 {}；清洁占比：无储能 {}，有储能 {}；放电 {} kWh，成本 {} {}",
    .sealed = "已封存 {}",
    .sealed_text = "{}，{} 行，SHA-256 {}",
    .being_made = "计算中",
    .simulated = "模拟：本报告计入模拟能耗，不可作为任何声明的依据。",
    .simulated_left_out = "未计入模拟能耗 {} kWh。",
    .placeholder = "占位因子：未配置排放因子，所用数值不具权威性，不得发布。",
    .hidden = "未配置排放因子，故不显示碳排放；能耗不受影响。",
    .factor_year = "因子年份为 {}，报告周期为 {}。",
    .coverage = "覆盖时间 {}：实际能耗高于所示。",
    .no_intensity = "{} 个小时共 {} kWh 无已知碳强度，不计入任何逐时数字。",
    .not_sealed = "未封存：数字仍可能变化。",
    .adjusted = "封存后收到 {} kWh，涉及 {} 个小时：按因子 {} kg，按小时 {} kg；不计入其他数字。",
    .moved =
        "减排量来自 {} 个被移动的任务（其中 {} 个无数值），基线为移动时记录的立即运行："
        "同样的实测能耗，自其本应启动之时起逐时排列。不计入其他数字。",
    .shared = "其中 {} kWh 为共享设备的估算分摊。",
    .never_added = "两种方法并列，从不相加；边际碳强度不计入任何数字。",
    .dash = "“—”",
    .c_kwh = "能耗 kWh",
    .c_coverage = "覆盖率",
    .c_shared = "共享 kWh",
    .c_adjustments = "调整项 kWh",
    .c_annual = "年度因子法 kg",
    .c_hourly = "逐时信号法 kg",
    .c_carbon_coverage = "碳覆盖率",
    .c_used = "用电时段 g/kWh",
    .c_mean = "时间均值 g/kWh",
    .c_s2_annual = "范围二 基于位置 年度 kg",
    .c_s2_hourly = "范围二 基于位置 逐时 kg",
    .c_s2_market = "范围二 基于市场 kg",
    .c_saved_average = "减排 kg（归因法）",
    .c_saved_marginal = "减排 kg（后果法）",
    .c_upstream = "范围三之三 上游 kg",
    .c_losses = "范围三之三 线损 kg",
    .c_overhead_kwh = "基础设施能耗（PUE）kWh",
    .c_overhead_kg = "基础设施 kg",
    .c_embodied = "隐含碳 kg",
    .c_sci = "SCI g/设备小时",
    .c_sci_token = "SCI g/token",
    .c_cfe = "24/7 无碳电力",
    .c_cost = "电费 {}",
    .c_peak = "峰值 kW（小时均值）",
    .c_demand = "需量电费 {}",
    .c_carbon_cost = "碳成本 EUR",
    .f_days = "每日能耗，kWh（UTC）。斜线：无数据。",
    .f_days_name = "每日能耗",
    .f_intensity = "用电小时的碳强度，g/kWh（UTC）。斜线：无数据。",
    .f_cfe = "每小时清洁电力匹配（24/7 无碳电力），UTC。斜线：无数据。"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kCodesInChinese{{
    {"average", "平均"},
    {"marginal", "边际"},
    {"residual", "剩余组合"},
    {"fossil_only", "仅化石电源"},
    {"ets_compliance", "碳市场履约值"},
    {"lifecycle_average", "全生命周期平均"},
    {"life_cycle", "全生命周期"},
    {"direct", "直接排放"},
    {"co2_only", "仅 CO₂"},
    {"consumption", "消费侧"},
    {"production", "生产侧"},
    {"unknown", "未说明"},
}};

}  // namespace

std::string_view said_of(std::string_view code, const Words& words) {
  if (&words != &kChinese) return code;
  for (const auto& [known, text] : kCodesInChinese)
    if (known == code) return text;
  return code;
}

const Words& words_of(Language language) { return language == Language::zh ? kChinese : kEnglish; }

std::string_view name_of(Scope scope, const Words& words) {
  switch (scope) {
    case Scope::cluster:
      return words.scope_cluster;
    case Scope::node:
      return words.scope_node;
    case Scope::team:
      return words.scope_team;
    case Scope::task_group:
      return words.scope_group;
    case Scope::task:
      return words.scope_task;
  }
  return words.scope_cluster;
}

}  // namespace tidewatt::reports
